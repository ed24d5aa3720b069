"""Models as their XML says, and which pairs of them lightweight migration covers.

Written from the behaviours' 13.1 and from the format of the XML alone; it shares nothing with the library that it judges:

  add or remove attributes, entities, relationships; optional to required with a default; required to optional; renaming by identifiers
  that may lie several versions back; to-one to to-many; ordered and unordered; properties move up and down a hierarchy, parents and
  children come and go; hierarchies without a common parent are not united; no attribute changes its type
"""

import xml.etree.ElementTree as ET


def yes(element, name):
    return element.get(name) == "YES"


class Property:
    def __init__(self, element, owner):
        self.name, self.owner = element.get("name"), owner
        self.identifier = element.get("elementID") or element.get("renamingIdentifier")
        self.is_attribute = element.tag == "attribute"
        self.optional, self.transient = yes(element, "optional"), yes(element, "transient")
        self.type = element.get("attributeType", "Undefined")
        self.derived, self.external = yes(element, "derived"), yes(element, "allowsExternalBinaryDataStorage")
        # What bytes stand for cannot be said in XML.
        self.default = None if self.type in ("Transformable", "Binary") else element.get("defaultValueString")
        if self.type == "Date":
            self.default = element.get("defaultDateTimeInterval")
        self.target, self.inverse = element.get("destinationEntity"), element.get("inverseName")
        self.to_many = not self.is_attribute and element.get("maxCount", "0" if yes(element, "toMany") else "1") != "1"
        self.ordered = yes(element, "ordered")

    @property
    def first_name(self):
        return self.identifier or self.name

    def __repr__(self):
        return f"{self.owner}.{self.name}"


class Entity:
    def __init__(self, element):
        self.name, self.parent = element.get("name"), element.get("parentEntity") or None
        self.identifier = element.get("elementID") or element.get("renamingIdentifier")
        self.abstract = yes(element, "isAbstract")
        self.own = [Property(child, self.name) for child in element if child.tag in ("attribute", "relationship")]
        self.constraints = [
            [part.get("value") for part in constraint.findall("constraint")]
            for constraint in element.findall("uniquenessConstraints/uniquenessConstraint")]

    @property
    def first_name(self):
        return self.identifier or self.name


class Model:
    def __init__(self, path):
        root = ET.parse(path).getroot()
        self.entities = {entity.name: entity for entity in map(Entity, root.findall("entity"))}

    def line(self, name):
        """The entity and its parents, itself first."""
        found = []
        while name:
            found.append(self.entities[name])
            name = self.entities[name].parent
        return found

    def root(self, name):
        return self.line(name)[-1].name

    def is_kind(self, name, other):
        return any(entity.name == other for entity in self.line(name))

    def kinds(self, name):
        return [other for other in self.entities if self.is_kind(other, name)]

    def properties(self, name):
        return [prop for entity in self.line(name) for prop in entity.own]

    def property(self, entity, name):
        return next((prop for prop in self.properties(entity) if prop.name == name), None) if entity in self.entities else None

    def inverse(self, prop):
        return self.property(prop.target, prop.inverse) if prop.inverse else None


def matched(earlier, later):
    """Later name to earlier thing: by the first name, by the last name, by the name alone; each earlier one once."""
    result, free = {}, list(earlier)

    def take(wanted, given):
        for thing in later:
            if thing.name in result or wanted(thing) is None:
                continue
            found = [other for other in free if given(other) == wanted(thing) and getattr(other, "is_attribute", 0) == getattr(thing, "is_attribute", 0)]
            if found:
                result[thing.name] = found[0]
                free.remove(found[0])

    take(lambda t: t.identifier, lambda o: o.first_name)
    take(lambda t: t.identifier, lambda o: o.name)
    take(lambda t: t.first_name, lambda o: o.first_name)
    take(lambda t: t.name, lambda o: o.name)
    return result


class Pair:
    """Two versions: what became of what, and why it cannot be inferred."""

    def __init__(self, earlier, later):
        self.earlier, self.later = earlier, later
        self.sources = matched(earlier.entities.values(), later.entities.values())
        self.targets = {source.name: name for name, source in self.sources.items()}
        self.origins = {
            name: matched(earlier.properties(source.name), later.properties(name)) for name, source in self.sources.items()}

    def origin(self, entity, prop):
        return self.origins.get(entity, {}).get(prop.name)

    def origin_of_declared(self, prop):
        """What it was: of the entity that declares it, else of the one below from which it moved up."""
        if own := self.origin(prop.owner, prop):
            return own
        below = {id(found): found for name in self.later.kinds(prop.owner) if (found := self.origin(name, prop))}
        return next(iter(below.values())) if len(below) == 1 else None

    def refusals(self):
        """For each the names that it may go by, those of the entity and of the one that declares the property; and the rule."""
        found = self.united_trees()
        for name in self.sources:
            for prop in self.later.properties(name):
                if prop.transient or prop.derived:
                    continue
                former = self.origin(name, prop)
                if former and former.transient:
                    former = None
                why = self.attribute(name, prop, former) if prop.is_attribute else self.relationship(name, prop, former)
                if why:
                    found.append((f"{prop.owner}.{prop.name}", f"{name}.{prop.name}", why))
        return list(dict.fromkeys(found))

    def united_trees(self):
        roots = {}
        for name, source in self.sources.items():
            roots.setdefault(self.later.root(name), set()).add(self.earlier.root(source.name))
        return [(root, root, f"hierarchies without a common parent are not united: {', '.join(sorted(former))}")
                for root, former in roots.items() if len(former) > 1]

    def attribute(self, entity, prop, former):
        if prop.type == "Composite":
            return None
        has_default = prop.default is not None
        if not former:
            if not prop.optional and not has_default and not self.later.entities[entity].abstract:
                return "an attribute that is added must be optional or have a default"
            return None
        if former.type != prop.type:
            return f"attribute types do not change: {former.type}, {prop.type}"
        # What was computed was never required of the program.
        if not prop.optional and (former.optional or former.derived) and not has_default:
            return "optional becomes required with a default only"
        return None

    def relationship(self, entity, prop, former):
        inverse = self.later.inverse(prop)
        old_inverse = self.origin_of_declared(inverse) if inverse else None
        if not former:
            if not prop.to_many and not prop.optional and not self.later.entities[entity].abstract and not old_inverse:
                return "a to-one that is added must be optional"
            taken = old_inverse and self.earlier.inverse(old_inverse)
            # It may be the same one, of another entity of the hierarchy, which moves up to where this one inherits it.
            if taken and not old_inverse.transient and not prop.to_many and taken is not self.origin_of_declared(prop):
                return "another inverse has taken its place"
            return None
        if former.to_many and not prop.to_many:
            return "a to-many does not become a to-one"
        for kind in self.earlier.kinds(former.target):
            later = self.targets.get(kind)
            if later and not self.earlier.entities[kind].abstract and not self.later.is_kind(later, prop.target):
                # Objects whose entity has the inverse no longer, since it moved down, are let go.
                if old_inverse and old_inverse is self.earlier.inverse(former) and not self.later.is_kind(later, inverse.owner):
                    continue
                return f"what it led to, {kind}, may not stand there any more"
        if prop.to_many:
            former_inverse = self.earlier.inverse(former)
            if inverse and (old_inverse is not former_inverse if old_inverse else former_inverse is not None):
                return "members are written down with the inverse, which is another one"
            if not inverse and former.to_many and former_inverse and former_inverse.to_many:
                return "members of a to-many without inverse have one owner"
            if (inverse is prop) != (former_inverse is former) and former.to_many:
                return "members are written down with the inverse, which is another one"
        return None
