import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { useToasts } from '../toasts.tsx';
import { Dialog } from './dialog.tsx';
import { NameField } from './name-field.tsx';
import { SubmitForm } from './submit-form.tsx';

export interface RenameButtonProps {
  readonly name: string;
  /** Describes the further effects of a new name. */
  readonly about?: string;
  readonly maxLength?: number;
  readonly onRename: (name: string) => Promise<unknown>;
}

/** Renames an object in a dialog. */
export function RenameButton({ name, about, maxLength, onRename }: RenameButtonProps) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const [isOpen, setOpen] = useState(false);
  const [next, setNext] = useState(name);
  const open = () => {
    setNext(name);
    setOpen(true);
  };
  const submit = async () => {
    await onRename(next.trim());
    setOpen(false);
    say(t('rename.done', { name: next.trim() }));
  };
  return (
    <>
      <Button variant="default" onClick={open}>
        {t('rename.action')}
      </Button>
      {isOpen ? (
        <Dialog onClose={() => setOpen(false)} title={t('rename.title', { name })}>
          <SubmitForm
            action={t('rename.action')}
            isReady={next.trim() !== '' && next.trim() !== name}
            onSubmit={submit}
          >
            {(failure) => (
              <>
                <NameField
                  label={t('rename.name')}
                  value={next}
                  onChange={setNext}
                  failure={failure}
                  {...(maxLength === undefined ? {} : { maxLength })}
                />
                {about === undefined ? null : <Text size="sm">{about}</Text>}
              </>
            )}
          </SubmitForm>
        </Dialog>
      ) : null}
    </>
  );
}
