# Uploads a document and asks a question with the Python client, which docs/guides/python-client.md installs.
# Run: QM_API_KEY=$(cat data/first-key) python3 examples/ask.py examples/handbook.md 'When does the library open?'
import os
import sys

from quartermaster import Quartermaster, RecordFailedError

document, question = sys.argv[1:] or ["examples/handbook.md", "When does the library open?"]

with Quartermaster(os.environ.get("QM_URL", "http://127.0.0.1:8080"), os.environ["QM_API_KEY"]) as qm:
    try:
        file = qm.files.upload(document)
        collection = qm.collections.create(name="Handbook")
        record = qm.records.create(collection["collection_id"], type="file", file_id=file["file_id"]).wait()
    except RecordFailedError as error:
        sys.exit(f"The document cannot be read: {error}")
    print("Passages:", record["num_chunks"])

    hits = qm.search(collection["collection_id"], question, top_k=1)
    if not hits:
        print("No passage fits.")
        sys.exit()
    [best] = hits
    page, headings = best["locator"].get("page"), best["locator"].get("heading_path") or []
    place = f"page {page}" if page else " > ".join(headings)
    print(best["content"])
    print("--", ", ".join(filter(None, [best["file_name"], place, f"score {best['score']}"])))
