import { Button, type ButtonProps } from '@mantine/core';
import { useState } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import { Confirm, type ConfirmProps } from './confirm.tsx';

export interface ConfirmButtonProps extends Omit<ConfirmProps, 'onClose'> {
  readonly icon: IconName;
  readonly look: Pick<ButtonProps, 'variant' | 'color' | 'size'>;
}

/** A button that requires confirmation before its action. */
export function ConfirmButton({ icon, look, ...confirm }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button {...look} leftSection={<Icon name={icon} size={16} />} onClick={() => setAsking(true)}>
        {confirm.action}
      </Button>
      {isAsking ? <Confirm {...confirm} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
