import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSubmit } from './use-submit.ts';

export interface SubmitFormProps {
  /** Label of the button. */
  readonly action: string;
  readonly onSubmit: () => Promise<unknown>;
  readonly isReady?: boolean;
  /** Renders the fields. One of them shows the error of the last attempt. */
  readonly children: (failure: string | null) => ReactNode;
}

/** Form fields and a submit button. */
export function SubmitForm({ action, onSubmit, isReady = true, children }: SubmitFormProps) {
  const { failure, busy, submit } = useSubmit(onSubmit);
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {children(failure)}
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={!isReady}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
