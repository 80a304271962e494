import { Button, FileButton } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { currentProject, filesApi } from '../../api/addresses.ts';
import { storeFile } from '../../api/send-file.ts';
import { Icon } from '../../components/icons.tsx';
import { correctionOf, nameOfRecord } from '../../components/records/record-words.ts';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';

/** Leads to the sheet with the corrected rows of this one, or back. The metadata of both sheets name the other one. */
export function CorrectionLink({ record }: { record: RecordItem }) {
  const words = passageWords[useLanguage().code];
  const correction = correctionOf(record);
  const other = correction ?? record.metadata.corrects;
  if (other === undefined) return null;
  const params = { collectionId: record.collection_id, recordId: other };
  return (
    <Link to="/collections/$collectionId/records/$recordId" params={params}>
      {correction === undefined ? words.corrects : words.correction}
    </Link>
  );
}

/** Adds the corrected rows as a sheet, and marks this one as corrected. */
export function CorrectedRows({ record }: { record: RecordItem }) {
  const { t, code } = useLanguage();
  const words = passageWords[code];
  const { showError } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const { collection_id, record_id, metadata } = record;
  const add = async (file: File) => {
    const sent = { file, purpose: 'qa_record_file', projectId: currentProject() } as const;
    const file_id = await storeFile(sent, t('failure.offline'));
    const title = words.correctionTitle.replace('{name}', () => nameOfRecord(record)).slice(0, 255);
    const added = await filesApi.data('POST /v1/collections/{collection_id}/records', {
      path: { collection_id },
      body: { type: 'qa_sheet', file_id, title, metadata: { corrects: record_id } },
    });
    if (!('record_id' in added)) return; // only a preview has no id
    await filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}', {
      path: { collection_id, record_id },
      body: { metadata: { ...metadata, corrected_by: added.record_id } },
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
