"""Compares the methods of the client with the operations of the OpenAPI documents."""

from __future__ import annotations

import inspect
import re
import typing
import unittest
from collections.abc import Iterator

from quartermaster import Quartermaster, types
from quartermaster._operations import OPERATIONS, OperationId

CALL = re.compile(r'Call\(\s*"(\w+)"')
OWN_WAYS: dict[str, set[str]] = {
    "queryCollections": {"collection_ids"},  # a list as `collection_id` of `search`
    "execute": {"bundle_id", "plugin_id", "tool_name"},  # `plugin`
    "listPlugins": {"after", "before"},  # `pages`
    "listBundles": {"after", "before"},  # `pages`
    "listRecordRows": {"format"},  # `row_sheet`
    "createRecord": {"dry_run"},  # `preview`
    "getArtifactContent": {"project", "expires", "signature"},  # from `file_url` of the artifact
}
"""Parameters that the client expresses by a method or a parameter of its own."""


def methods_by_operation() -> dict[str, list[inspect.Signature]]:
    client = Quartermaster("http://127.0.0.1:1")
    found: dict[str, list[inspect.Signature]] = {}
    for resource in vars(client).values():
        if not type(resource).__module__.startswith("quartermaster._sync") or type(resource).__name__ == "Connection":
            continue
        for name, method in inspect.getmembers(resource, inspect.ismethod):
            if name.startswith("_"):
                continue
            for operation in CALL.findall(inspect.getsource(method)):
                found.setdefault(operation, []).append(inspect.signature(method))
    return found


def names_of(signature: inspect.Signature) -> Iterator[str]:
    for name, parameter in signature.parameters.items():
        options = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        yield from [name] if options is None else typing.get_type_hints(getattr(types, options[1]))


class Operations(unittest.TestCase):
    def test_every_operation_has_a_method_and_every_method_calls_an_operation(self) -> None:
        found = methods_by_operation()
        self.assertGreater(len(found), 50)
        self.assertEqual(sorted(found), sorted(OPERATIONS))
        self.assertEqual(sorted(typing.get_args(OperationId)), sorted(OPERATIONS))

    def test_the_parameters_of_the_methods_are_those_of_the_operations(self) -> None:
        compared = 0
        for operation_id, signatures in methods_by_operation().items():
            operation = OPERATIONS[typing.cast(OperationId, operation_id)]
            expected = {*operation.query, *re.findall(r"\{(\w+)\}", operation.path)}
            if operation.body is not None:
                expected |= set(typing.get_type_hints(getattr(types, operation.body)))
            given = {name for signature in signatures for name in names_of(signature)}
            if "plugin" in given:
                expected -= {"bundle_id", "plugin_id"}
            with self.subTest(operation_id):
                self.assertEqual(expected - given - OWN_WAYS.get(operation_id, set()), set())
            compared += len(expected)
        self.assertGreater(compared, 150)

    def test_a_name_that_an_operation_does_not_have_is_a_type_error_and_nothing_is_sent(self) -> None:
        client = Quartermaster("http://127.0.0.1:1")
        calls: list[typing.Callable[[typing.Any], object]] = [
            lambda wrong: client.files.list(**wrong),
            lambda wrong: client.collections.create(**wrong),
            lambda wrong: client.records.create("c", **wrong),
            lambda wrong: client.search(["c"], "a", **wrong),
        ]
        for call in calls:
            with self.assertRaisesRegex(TypeError, "has no parameter 'titel'. Allowed: "):
                call({"titel": "a"})

    def test_every_type_can_be_read_at_run_time(self) -> None:
        read = 0
        for name, value in vars(types).items():
            if isinstance(value, type) and value.__module__ == types.__name__:
                self.assertIsInstance(typing.get_type_hints(value), dict, name)
                read += 1
        self.assertGreater(read, 40)


if __name__ == "__main__":
    unittest.main()
