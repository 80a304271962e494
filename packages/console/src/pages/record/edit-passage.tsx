import { Button, Group, Text, Textarea } from '@mantine/core';
import type { Chunk } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';

type Texts = Partial<Record<'content' | 'question' | 'answer', string>>;

/** Changes the text of a passage, or the question and answer of a pair, where it stands. */
export function EditPassage({ chunk, onClose }: { chunk: Chunk; onClose: () => void }) {
  const { t, code } = useLanguage();
  const words = passageWords[code];
  const queries = useQueryClient();
  const { content, question, answer } = chunk;
  const before: Texts = question === undefined ? { content } : { question, answer: answer ?? '' };
  const [texts, setTexts] = useState(before);
  const fields = (['content', 'question', 'answer'] as const).filter((field) => before[field] !== undefined);
  const changed = fields.filter((field) => texts[field] !== before[field]);
  const save = async () => {
    const { collection_id, chunk_id } = chunk;
    const path = { collection_id, chunk_id };
    const body = Object.fromEntries(changed.map((field) => [field, texts[field]]));
    await filesApi.data('POST /v1/collections/{collection_id}/chunks/{chunk_id}', { path, body });
    for (const name of ['chunks', 'chunk', 'boxes', 'pairs']) await queries.invalidateQueries({ queryKey: [name] });
    onClose();
  };
  const isReady = changed.length > 0 && fields.every((field) => texts[field]?.trim() !== '');
  return (
    <SubmitForm action={words.save} onSubmit={save} isReady={isReady}>
      {(failure) => (
        <>
          {fields.map((field, index) => (
            <Textarea
              key={field}
              label={words[field]}
              value={texts[field]}
              onChange={({ currentTarget }) => setTexts({ ...texts, [field]: currentTarget.value })}
              maxLength={65_535}
              rows={Math.min(16, Math.max(fields.length > 1 ? 2 : 4, Math.ceil((before[field] ?? '').length / 70)))}
              {...(index === 0 ? { 'data-autofocus': true, autoFocus: true } : {})}
              error={index === fields.length - 1 ? failure : null}
            />
          ))}
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
