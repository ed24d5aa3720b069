// Tests follow with their subject.
