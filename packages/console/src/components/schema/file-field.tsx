import { Button, Group, TextInput } from '@mantine/core';
import { purposesFor } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import { currentProject, filesApi } from '../../api/addresses.ts';
import { storeFile } from '../../api/send-file.ts';
import { useLanguage } from '../../language/language.tsx';
import { toDataUrl } from '../data-url.ts';
import { describeFailure } from '../failure.tsx';
import { formatBytes } from '../format.ts';
import { type FieldProps, useWords } from './basic-fields.tsx';

/** Files up to this size are part of the request, whose body takes 1 MiB. Larger ones are uploaded. */
const maxInlineBytes = 512 * 1024;
/** Longer texts are file content, not a reference. */
const longestReference = 100;

/** File content: a stored file or artifact by its reference, or a file of the user's computer. */
export function FileField(props: FieldProps) {
  const { value, onChange } = props;
  const { t, explain } = useLanguage();
  const queries = useQueryClient();
  const words = useWords(props);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState({ name: '', content: '' });
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const files = useStoredFiles();
  const text = typeof value === 'string' ? value : '';
  const isChosen = text !== '' && text === chosen.content;
  const isContent = isChosen || text.length > longestReference;
  const take = async (file: File) => {
    setBusy(true);
    setFailure(null);
    try {
      const isSmall = file.size <= maxInlineBytes;
      const content = isSmall
        ? (await toDataUrl(file)).replace(/^[^,]*,/, '')
        : await store(file, t('failure.offline'));
      onChange(content);
      if (isSmall) setChosen({ name: file.name, content });
      else void queries.invalidateQueries({ queryKey: ['files'] });
    } catch (error) {
      setFailure(describeFailure(error, explain));
    }
    setBusy(false);
  };
  return (
    <div>
      <TextInput
        {...words}
        error={failure}
        list={list}
        readOnly={isContent}
        placeholder="file:…"
        autoComplete="off"
        spellCheck={false}
        value={
          isContent ? `${isChosen ? chosen.name : 'base64'} · ${formatBytes(Math.floor((text.length * 3) / 4))}` : text
        }
        onChange={({ currentTarget: { value: next } }) => onChange(next === '' ? undefined : next)}
      />
      <datalist id={list}>
        {files.map(({ file_id, file_name }) => (
          <option key={file_id} value={`file:${file_id}`} label={file_name} />
        ))}
      </datalist>
      <Group gap="xs" mt={6}>
        <Button size="compact-sm" variant="default" loading={busy} onClick={() => input.current?.click()}>
          {t('try.chooseFile', { name: props.name })}
        </Button>
        {isContent ? (
          <Button size="compact-sm" variant="default" onClick={() => onChange(undefined)}>
            {t('try.removeItem')}
          </Button>
        ) : null}
      </Group>
      <input
        ref={input}
        type="file"
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) void take(file);
          currentTarget.value = '';
        }}
      />
    </div>
  );
}

/** The newest files of the project; none where the caller may not see them. */
function useStoredFiles() {
  const { data } = useQuery({
    queryKey: ['files', 'choices'],
    queryFn: () => filesApi.json('GET /v1/files', { query: { limit: 100 } }),
    retry: false,
  });
  return data?.data ?? [];
}

/** Uploads a file and returns the reference to it. @throws ApiError */
async function store(file: File, offline: string): Promise<string> {
  const [purpose = 'document_file'] = purposesFor(file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase());
  return `file:${await storeFile({ file, purpose, projectId: currentProject() }, offline)}`;
}
