# Uploads a document and asks a question over HTTP. Needs curl and jq.
# Run: QM_API_KEY=$(cat data/first-key) bash examples/ask.sh examples/handbook.md 'When does the library open?'
set -euo pipefail
url=${QM_URL:-http://127.0.0.1:8080}
document=${1:-examples/handbook.md}
question=${2:-When does the library open?}

# Without a JSON body, call gets; with one, it posts. For an answer with an error, it shows the message and fails.
call() {
  curl -sS "$url/v1/$1" -H "Authorization: Bearer $QM_API_KEY" "${@:2}" | jq 'if .error then error(.error.message) else . end'
}
json() {
  call "$1" -H 'Content-Type: application/json' -d "$2"
}

file=$(call files -F purpose=record_file -F "file=@$document" | jq -r .data.file_id)
collection=$(json collections '{"name":"Handbook","type":"text"}' | jq -r .data.collection_id)
record=$(json "collections/$collection/records" "$(jq -n --arg id "$file" '{type: "file", file_id: $id}')" | jq -r .data.record_id)

# The events end when the record is ready or has an error.
curl -sS "$url/v1/collections/$collection/records/$record/events" -H "Authorization: Bearer $QM_API_KEY" > /dev/null
call "collections/$collection/records/$record" | jq -e '.data | if .status == "ready" then empty else .error end' && exit 1

# The best passage, with its score, its file, and its page or the headings above it.
json "collections/$collection/chunks/query" "$(jq -n --arg question "$question" '{query_text: $question, top_k: 1}')" |
  jq -r 'def place: if .page then "page \(.page)" else .heading_path // [] | join(" > ") end;
    .data[0] | if . then "\(.content)\n-- " + ([.file_name, (.locator | place), "score \(.score)"] - [""] | join(", ")) else "No passage fits." end'
