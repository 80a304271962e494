import { Button, FileButton } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { currentProject, filesApi } from '../../api/addresses.ts';
import { storeFile } from '../../api/send-file.ts';
import { Icon } from '../../components/icons.tsx';
import { hasRowNumbers, useCorrections } from '../../components/records/corrections.ts';
import { correctionsOf, nameOfRecord } from '../../components/records/record-words.ts';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';

/** Leads to the sheets with the corrected rows of this one, or back. The metadata of the sheets name each other. */
export function CorrectionLinks({ record }: { record: RecordItem }) {
  const words = passageWords[useLanguage().code];
  const { collection_id: collectionId, record_id: id, metadata } = record;
  const corrections = useCorrections([record]).get(id)?.sheets ?? [];
  const links = corrections.map((recordId) => ({ recordId, label: words.correction }));
  if (metadata.corrects !== undefined) links.push({ recordId: metadata.corrects, label: words.corrects });
  return links.map(({ recordId, label }) => (
    <Link key={recordId} to="/collections/$collectionId/records/$recordId" params={{ collectionId, recordId }}>
      {label}
    </Link>
  ));
}

/** The most sheets with corrected rows that a sheet names. */
const mostCorrections = 10;

/** Adds the corrected rows as a sheet, which this one then names. */
export function CorrectedRows({ record }: { record: RecordItem }) {
  const { t, code, explain } = useLanguage();
  const words = passageWords[code];
  const { showError } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const { collection_id, record_id, metadata } = record;
  const add = async (file: File) => {
    const sent = { file, purpose: 'qa_record_file', projectId: currentProject() } as const;
    const file_id = await storeFile(sent, t('failure.offline'));
    const path = { collection_id };
    const sheet = { type: 'qa_sheet', file_id } as const;
    const endpoint = 'POST /v1/collections/{collection_id}/records';
    const preview = await filesApi.data(endpoint, { path, query: { dry_run: true }, body: sheet });
    if (preview.error !== null || !hasRowNumbers(preview)) {
      await filesApi.json('DELETE /v1/files/{file_id}', { path: { file_id } });
      throw new Error(preview.error === null ? words.notCorrected : explain(preview.error));
    }
    const title = words.correctionTitle.replace('{name}', () => nameOfRecord(record)).slice(0, 255);
    const added = await filesApi.data(endpoint, { path, body: { ...sheet, title, metadata: { corrects: record_id } } });
    if (!('record_id' in added)) return; // only a preview has no id
    const corrected_by = [...correctionsOf(record), added.record_id].slice(-mostCorrections).join(' ');
    await filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}', {
      path: { collection_id, record_id },
      body: { metadata: { ...metadata, corrected_by } },
    });
    for (const name of ['record', 'records']) await queries.invalidateQueries({ queryKey: [name] });
    const params = { collectionId: collection_id, recordId: added.record_id };
    await navigate({ to: '/collections/$collectionId/records/$recordId', params });
  };
  const take = (file: File | null) => {
    if (file === null) return;
    setBusy(true);
    void add(file)
      .catch(showError)
      .finally(() => setBusy(false));
  };
  return (
    <FileButton accept=".csv,.xlsx" onChange={take}>
      {(props) => (
        <Button {...props} size="xs" variant="default" loading={busy} leftSection={<Icon name="upload" size={14} />}>
          {words.addCorrected}
        </Button>
      )}
    </FileButton>
  );
}
