import { Button, Group, Text, Textarea } from '@mantine/core';
import type { Chunk } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';

/** Changes the text of a passage where it stands. */
export function EditPassage({ chunk, onClose }: { chunk: Chunk; onClose: () => void }) {
  const { t, code } = useLanguage();
  const words = passageWords[code];
  const queries = useQueryClient();
  const [content, setContent] = useState(chunk.content);
  const save = async () => {
    const { collection_id, chunk_id } = chunk;
    const path = { collection_id, chunk_id };
    await filesApi.data('POST /v1/collections/{collection_id}/chunks/{chunk_id}', { path, body: { content } });
    for (const name of ['chunks', 'chunk', 'boxes']) await queries.invalidateQueries({ queryKey: [name] });
    onClose();
  };
  return (
    <SubmitForm action={words.save} onSubmit={save} isReady={content.trim() !== '' && content !== chunk.content}>
      {(failure) => (
        <>
          <Textarea
            label={words.text}
            value={content}
            onChange={(event) => setContent(event.currentTarget.value)}
            maxLength={65_535}
            rows={Math.min(16, Math.max(4, Math.ceil(chunk.content.length / 70)))}
            data-autofocus
            autoFocus
            error={failure}
          />
          <Group justify="space-between" gap="xs">
            <Text size="xs" c="dimmed">
              {words.about}
            </Text>
            <Button size="xs" variant="subtle" onClick={onClose}>
              {t('action.cancel')}
            </Button>
          </Group>
        </>
      )}
    </SubmitForm>
  );
}
