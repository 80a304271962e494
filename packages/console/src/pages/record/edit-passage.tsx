import { Button, Group, Text, Textarea } from '@mantine/core';
import type { Chunk } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import { passageWords } from './passage-words.ts';
import { useUnsaved } from './reprocess.tsx';

type Texts = Partial<Record<'content' | 'question' | 'answer', string>>;

/** Changes the text of a passage, or the question and answer of a pair, where it stands. Asks before it discards changes. */
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
  useUnsaved(chunk.chunk_id, changed.length > 0);
  const discard = useDiscard(changed.length > 0, onClose);
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent) => {
    // Escape also ends the input of a character.
    if (key === 'Escape' && !nativeEvent.isComposing) discard.leave();
  };
  const isReady = changed.length > 0 && fields.every((field) => texts[field]?.trim() !== '');
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the fields inside have the focus. */}
      <div onKeyDown={onKeyDown}>
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
                <Button size="xs" variant="subtle" onClick={discard.leave}>
                  {t('action.cancel')}
                </Button>
              </Group>
            </>
          )}
        </SubmitForm>
      </div>
      {discard.question}
    </>
  );
}

/** Asks before changes are lost: by `leave`, by a link to another page, or by closing the window. */
function useDiscard(isChanged: boolean, onClose: () => void) {
  const words = passageWords[useLanguage().code];
  const [isLeaving, setLeaving] = useState(false);
  const other = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  const isAsking = isLeaving || other.status === 'blocked';
  const question = isAsking ? (
    <Confirm
      title={words.discardTitle}
      action={words.discard}
      onConfirm={async () => (other.status === 'blocked' ? other.proceed() : onClose())}
      onClose={() => {
        setLeaving(false);
        other.reset?.();
      }}
    >
      {words.discardAbout}
    </Confirm>
  ) : null;
  return { leave: () => (isChanged ? setLeaving(true) : onClose()), question };
}
