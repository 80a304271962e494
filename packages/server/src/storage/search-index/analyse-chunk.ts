import { parseJson } from '../../platform/json/parse-json.ts';
import { readFileName } from '../../stores/collections/records/record-file-name.ts';
import { countFieldTerms } from '../../stores/search/analysis/field-terms.ts';
import { type FilteredChunk, listFilterTerms } from '../../stores/search/filter-terms.ts';
import type { IndexedChunk } from '../../stores/search/search-index.ts';
import { contentOf, headingOf } from '../database/chunk-content.ts';
import type { ChunkTexts } from '../database/chunk-texts.ts';

/** Returns what the index needs of a chunk. It takes long, so that it runs in a thread. */
export function analyseChunk({ seq, question, record_id: recordId, ...row }: ChunkTexts): IndexedChunk {
  const metadata = parseJson(row.metadata) as FilteredChunk['metadata']; // an object, as is that of the record
  const recordMetadata = parseJson(row.record_metadata ?? '{}') as FilteredChunk['recordMetadata'];
  return {
    seq,
    words: countFieldTerms({
      title: row.record_title,
      fileName: row.record_file && readFileName(row.record_file),
      heading: headingOf(row.locator),
      question,
      content: contentOf({ ...row, question }),
    }),
    filterTerms: listFilterTerms({ recordId, question, metadata, recordMetadata }),
  };
}
