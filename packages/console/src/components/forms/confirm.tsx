import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { useToasts } from '../toasts.tsx';
import { Dialog } from './dialog.tsx';
import { useKeptFocus } from './use-focus-return.ts';

export interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  /** Whether the action removes or replaces something. */
  readonly isEnd?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks for confirmation before an action that cannot be undone, or takes long. */
export function Confirm({ title, children, action, isEnd = true, onConfirm, onClose }: ConfirmProps) {
  const { t } = useLanguage();
  const { showError } = useToasts();
  const [busy, setBusy] = useState(false);
  useKeptFocus(busy);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      showError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog onClose={onClose} title={title} centered>
      <Text size="sm" component="div">
        {children}
      </Text>
      <Group justify="flex-end" mt="lg" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button {...(isEnd ? { color: 'red.8' } : {})} loading={busy} onClick={confirm} data-autofocus>
          {action}
        </Button>
      </Group>
    </Dialog>
  );
}
