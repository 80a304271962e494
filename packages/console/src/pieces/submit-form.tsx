import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSubmit } from './use-submit.ts';

export interface SubmitFormWish {
  /** What its button says. */
  readonly action: string;
  readonly onSubmit: () => Promise<unknown>;
  readonly isReady?: boolean;
  /** The fields; one of them says why it did not work. */
  readonly children: (failure: string | null) => ReactNode;
}

/** Fields, and below them the button that sends them. */
export function SubmitForm({ action, onSubmit, isReady = true, children }: SubmitFormWish) {
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
