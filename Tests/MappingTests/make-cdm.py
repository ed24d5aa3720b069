#!/usr/bin/env python3
"""Writes a compiled mapping model (.cdm) by the description of the format, with nothing of the library.

make-cdm.py OUTPUT SOURCEHASH DESTINATIONHASH [POLICY]      hashes of Author and Person in base64, the class of their policy
"""
import base64
import plistlib
import sys
from plistlib import UID

objects = ["$null"]
classes = {}


def add(value):
    objects.append(value)
    return UID(len(objects) - 1)


def of(name, parents=("NSObject",), **fields):
    if name not in classes:
        classes[name] = add({"$classname": name, "$classes": [name, *parents]})
    return add({"$class": classes[name], **fields})


def array(*items):
    return of("NSMutableArray", ("NSArray", "NSObject"), **{"NS.objects": list(items)})


def dictionary(pairs):
    return of("NSDictionary", **{"NS.keys": [add(k) for k, _ in pairs], "NS.objects": [v for _, v in pairs]})


def variable(name):
    return of("NSVariableExpression", ("NSExpression", "NSObject"), NSVariable=add(name), NSExpressionType=2)


def constant(value):
    return of("NSConstantValueExpression", ("NSExpression", "NSObject"), NSConstantValue=add(value), NSExpressionType=0)


def path(target, keys):
    last = of("NSKeyPathSpecifierExpression", ("NSExpression", "NSObject"), NSKeyPath=add(keys), NSExpressionType=10)
    return of("NSKeyPathExpression", ("NSFunctionExpression", "NSExpression", "NSObject"), NSOperand=target,
              NSSelectorName=add("valueForKeyPath:"), NSArguments=array(last), NSExpressionType=4)


def function(target, name, *arguments):
    return of("NSFunctionExpression", ("NSExpression", "NSObject"), NSOperand=target, NSSelectorName=add(name),
              NSArguments=array(*arguments), NSExpressionType=4)


def mapped(name, expression):
    return of("NSPropertyMapping", NSDestinationPropertyName=add(name), NSValueExpression=expression, NSPropertyTransforms=UID(0),
              NSUserInfo=UID(0))


def main(output, source, destination, policy=None):
    request = function(variable("manager"), "fetchRequestForSourceEntityNamed:predicateString:", constant("Author"),
                       constant("name != nil"))
    fetch = of("NSFetchRequestExpression", ("NSExpression", "NSObject"), NSRequest=request,
               NSContext=path(variable("manager"), "sourceContext"), NSCountOnly=False, NSExpressionType=50)
    authors = of(
        "NSEntityMapping", NSMappingName=add("AuthorToPerson"), NSMappingType=5, NSSourceEntityName=add("Author"),
        NSDestinationEntityName=add("Person"), NSSourceEntityVersionHash=add(base64.b64decode(source)),
        NSDestinationEntityVersionHash=add(base64.b64decode(destination)),
        NSAttributeMappings=array(mapped("fullName", path(variable("source"), "name")), mapped("rank", constant(3))),
        NSRelationshipMappings=array(), NSSourceExpression=fetch,
        NSEntityMigrationPolicyClassName=add(policy) if policy else UID(0),
        NSUserInfo=dictionary([("flavour", add("plum"))]))
    books = of(
        "NSEntityMapping", NSMappingName=add("BookToBook"), NSMappingType=5, NSSourceEntityName=add("Book"),
        NSDestinationEntityName=add("Book"), NSSourceEntityVersionHash=UID(0), NSDestinationEntityVersionHash=UID(0),
        NSAttributeMappings=array(mapped("title", path(variable("source"), "title"))),
        NSRelationshipMappings=array(mapped("author", function(
            variable("manager"), "destinationInstancesForEntityMappingNamed:sourceInstances:", constant("AuthorToPerson"),
            path(variable("source"), "author")))),
        NSSourceExpression=UID(0), NSEntityMigrationPolicyClassName=UID(0), NSUserInfo=UID(0))
    root = of("NSMappingModel", NSEntityMappingsByName=dictionary([("AuthorToPerson", authors), ("BookToBook", books)]))
    with open(output, "wb") as file:
        plistlib.dump({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": root}, "$objects": objects}, file,
                      fmt=plistlib.FMT_BINARY)


main(*sys.argv[1:])
