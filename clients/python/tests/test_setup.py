"""Checks what `setup.py` generates."""

from __future__ import annotations

import contextlib
import io
import runpy
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

SETUP = Path(__file__).parents[1] / "setup.py"
generator = runpy.run_path(str(SETUP))
TEXT = {"type": "string"}


def types_of(schemas: dict[str, Any]) -> str:
    text: str = generator["Types"](schemas).text(["INVALID_REQUEST"])
    return text


def type_of(it: dict[str, Any]) -> str:
    """Return the type of the member `it` of a class."""
    text = types_of({"Thing": {"type": "object", "properties": {"it": it}, "required": ["it"]}})
    return text.partition("class Thing(TypedDict):\n    it: ")[2].partition("\n")[0]


class Setup(unittest.TestCase):
    def test_each_kind_of_schema_becomes_its_type(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, "Any"),
            (TEXT, "str"),
            ({"type": "integer"}, "int"),
            ({"type": ["number", "null"]}, "float | None"),
            ({"const": 200}, "Literal[200]"),
            ({"const": True}, "Literal[True]"),
            ({"enum": ["a", 'b"']}, "Literal['a', 'b\"']"),
            ({"type": "array", "items": {"anyOf": [TEXT, {"type": "null"}]}}, "list[str | None]"),
            ({"oneOf": [TEXT, {"$ref": "#/components/schemas/Other"}]}, "str | Other"),
            ({"type": "object"}, "dict[str, Any]"),
            ({"type": "object", "additionalProperties": {"type": "boolean"}}, "dict[str, bool]"),
            ({"type": "object", "properties": {"a": TEXT}}, "ThingIt"),
        ]
        for schema, expected in cases:
            self.assertEqual(type_of(schema), expected)
        with self.assertRaisesRegex(ValueError, "allOf"):
            type_of({"allOf": [TEXT]})
        with self.assertRaisesRegex(ValueError, "cannot name: a-b"):
            type_of({"type": "object", "properties": {"a-b": TEXT}})

    def test_optional_members_are_in_a_separate_class_and_a_union_of_classes_is_an_alias(self) -> None:
        members = {"b": {"type": "integer"}, "a": TEXT}
        thing = {"type": "object", "properties": members, "required": ["a"], "description": 'Of "us"'}
        references = [{"$ref": f"#/components/schemas/{name}"} for name in ("Thing", "Thing2")]
        text = types_of({"Thing": thing, "Choice": {"anyOf": references}})
        self.assertIn("class _ThingRequired(TypedDict):\n    a: str\n", text)
        self.assertIn('class Thing(_ThingRequired, total=False):\n    """Of "us" """\n    b: int\n', text)
        self.assertIn('\nChoice = Union["Thing", "Thing2"]\n', text)
        self.assertIn("\nErrorCode = Literal['INVALID_REQUEST']\n", text)

    def test_the_table_contains_only_operations_for_a_key_with_what_a_request_needs(self) -> None:
        def operation(name: str, **more: Any) -> dict[str, Any]:
            return {"operationId": name, "security": [{"apiKey": []}], **more}

        media = {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}
        query = [{"name": name, "in": "query", "schema": TEXT} for name in ("limit", "format")]
        key = [{"name": "idempotency-key", "in": "header"}]
        paths = {
            "/v1/things": {
                "get": operation("listThings", parameters=query),
                "post": operation("createThing", requestBody={"content": media}),
            },
            "/v1/uploads": {"post": operation("upload", parameters=key)},
            "/v1/session": {"get": operation("getSession", security=[{"session": []}])},
            "/v1/setup": {"post": operation("setUp", security=[])},
            "/plugins/v1/{*}": {"get": operation("readPluginsAddress")},
        }
        code = {"properties": {"code": {"x-extensible-enum": ["INVALID_REQUEST"]}}}
        schemas = {
            "Thing": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
            "Part": TEXT,
            "Other": TEXT,
            "ErrorAnswer": {"properties": {"error": code}},
        }
        document = {"paths": paths, "components": {"schemas": schemas}}
        texts = generator["describe"]({"files": document})
        self.assertEqual(
            texts["_operations.py"].partition("OPERATIONS: dict[OperationId, Operation] = {\n")[2],
            "    'listThings': Operation('GET', '/v1/things', ('files',), True, ('limit', 'format'), None),\n"
            "    'createThing': Operation('POST', '/v1/things', ('files',), False, (), 'Thing'),\n"
            "    'upload': Operation('POST', '/v1/uploads', ('files',), True, (), None),\n}\n",
        )
        self.assertIn("class ListThingsOptions(TypedDict, total=False):\n    limit: str | None\n\n", texts["types.py"])
        self.assertIn("\nThing = list[Part]\n", texts["types.py"])
        self.assertNotIn("Other", texts["types.py"])

    def test_a_folder_without_its_repository_is_refused_with_one_sentence(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(SETUP, folder)
            alone = runpy.run_path(str(Path(folder, "setup.py")))
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaisesRegex(SystemExit, "docs/reference is missing"):
                alone["generate"]()


if __name__ == "__main__":
    unittest.main()
