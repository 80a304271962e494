# Copies the text collections of a TaskingAI server: names, descriptions, metadata, and the text of each record. Needs curl and jq.
# Run: TASKINGAI_URL=https://taskingai.example.com TASKINGAI_API_KEY=KEY QM_API_KEY=$(cat data/first-key) bash examples/from-taskingai.sh
set -euo pipefail
from=$TASKINGAI_URL/v1
to=${QM_URL:-http://127.0.0.1:8080}/v1

# Prints each item of a list of TaskingAI, one on a line. The second argument names the id of an item.
items() {
  local page after=''
  while page=$(curl -sS --fail-with-body "$from/$1?limit=100&order=asc$after" -H "Authorization: Bearer $TASKINGAI_API_KEY"); do
    jq -c '.data[]' <<< "$page"
    [ "$(jq .has_more <<< "$page")" = true ] || return 0
    after="&after=$(jq -r ".data[-1].$2" <<< "$page")"
  done
  echo "$page" >&2
  return 1
}

# Creates an object from the JSON on standard input. It prints the answer, or the message of the error.
create() {
  curl -sS "$to/$1" -H "Authorization: Bearer $QM_API_KEY" -H 'Content-Type: application/json' -d @- |
    jq -r 'if .error then error(.error.message) else .data[$id] end' --arg id "$2"
}
# Joins chunks. What the end of one and the start of the next have in common, from 20 characters, is there once.
merge='def merge: reduce .[] as $next (""; .[-2000:] as $tail
  | (first(range([$tail, $next | length] | min; 19; -1) as $n | select($tail[-$n:] == $next[:$n]) | $n) // 0) as $common
  | if $common > 0 then . + $next[$common:] elif . == "" then $next else "\(.)\n\n\($next)" end);'

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
items collections collection_id > "$work/collections"
while read -r collection; do
  name=$(jq -r .name <<< "$collection")
  if [ "$(jq -r '.type // "text"' <<< "$collection")" != text ]; then
    echo "$name: not copied, because it is not of type text"
    continue
  fi
  id=$(jq -r .collection_id <<< "$collection")
  new=$(jq '{name, description, metadata} | with_entries(select(.value != null))' <<< "$collection" | create collections collection_id)
  items "collections/$id/records" record_id > "$work/records"
  # TaskingAI gives the chunks of a collection, and each names its record. The service cuts the text again.
  items "collections/$id/chunks" chunk_id > "$work/chunks"
  while read -r record; do
    jq -s --argjson record "$record" "$merge"'
      {type: "text", title: ($record.title // ""), metadata: ($record.metadata // {}),
       content: ([.[] | select(.record_id == $record.record_id) | .content] | merge)}' "$work/chunks" |
      create "collections/$new/records" record_id > /dev/null || echo "$name: not copied: $(jq -r .record_id <<< "$record")" >&2
  done < "$work/records"
  echo "$name: $(wc -l < "$work/records") records, now $new"
done < "$work/collections"
