"""Uploads a document, creates a record, finds a passage and runs a plugin, with the installed Python client."""

import os

from quartermaster import Quartermaster

with Quartermaster(os.environ["QM_URL"], os.environ["QM_API_KEY"]) as qm:
    file = qm.files.upload(b"# Hours\n\nThe library opens at nine.\n", name="handbook.md")
    collection = qm.collections.create(name="handbook")["collection_id"]
    qm.records.create(collection, type="file", file_id=file["file_id"]).wait()
    hits = qm.search(collection, "When does the library open?", top_k=1)
    run = qm.plugins.run("calculator/evaluate", {"expression": "6 * 7"})
    assert "nine" in hits[0]["content"] and run["data"]["value"] == 42
