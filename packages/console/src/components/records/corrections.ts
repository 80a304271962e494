import type { RecordItem } from '@quartermaster/contract';
import { useQueries } from '@tanstack/react-query';
import { filesApi, isMissing } from '../../api/addresses.ts';
import { correctionsOf, rowCounts } from './record-words.ts';

/** What was corrected of a sheet with rejected rows. */
export interface Correction {
  /** The rejected rows that no other sheet has corrected. */
  readonly rowsLeft: number;
  /** The ids of the sheets with corrected rows, without deleted ones. */
  readonly sheets: readonly string[];
  /** Whether one of them is being processed. */
  readonly isMoving: boolean;
}

/** The corrections of those sheets that have some, by the ids of the sheets. */
export function useCorrections(records: readonly RecordItem[]): ReadonlyMap<string, Correction> {
  const corrected = records.filter((record) => correctionsOf(record).length > 0);
  const results = useQueries({
    queries: corrected.map((record) => ({
      queryKey: ['records', record.collection_id, 'corrections', record.record_id, record.metadata.corrected_by],
      queryFn: () => readCorrection(record),
      refetchInterval: ({ state }: { state: { data?: Correction | undefined } }) =>
        state.data?.isMoving ? 2000 : false,
    })),
  });
  return new Map(
    corrected.flatMap(({ record_id: id }, index) => {
      const data = results[index]?.data;
      return data === undefined ? [] : [[id, data] as const];
    }),
  );
}

/** Corrected rows may have been rejected in turn, and corrected in a further sheet. */
const mostSteps = 5;

async function readCorrection(record: RecordItem, step = 1): Promise<Correction> {
  const { collection_id, record_id } = record;
  const sheets: string[] = [];
  let rowsLeft = rowCounts(record).rejected;
  let isMoving = false;
  for (const id of correctionsOf(record)) {
    const sheet = await findRecord({ collection_id, record_id: id });
    if (sheet?.metadata.corrects !== record_id) continue;
    sheets.push(id);
    isMoving ||= sheet.status === 'creating';
    if (!hasRowNumbers(sheet)) continue;
    rowsLeft -= rowCounts(sheet).accepted;
    if (step === mostSteps) continue;
    const further = await readCorrection(sheet, step + 1);
    rowsLeft -= rowCounts(sheet).rejected - further.rowsLeft;
    isMoving ||= further.isMoving;
  }
  return { rowsLeft: Math.max(0, rowsLeft), sheets, isMoving };
}

async function findRecord(path: { readonly collection_id: string; readonly record_id: string }) {
  try {
    return await filesApi.data('GET /v1/collections/{collection_id}/records/{record_id}', { path });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether a sheet has the column with the numbers of the rejected rows, as the download of these rows has. */
export function hasRowNumbers({ report }: Pick<RecordItem, 'report'>): boolean {
  const sheets: unknown = report?.sheets;
  return Array.isArray(sheets) && sheets.some(({ columns }) => Array.isArray(columns) && columns.includes('qm:row'));
}
