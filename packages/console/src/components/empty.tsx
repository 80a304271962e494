import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './empty.module.css';
import { Icon, type IconName } from './icons.tsx';

/** An empty state, and what the user can do about it. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <div className={classes.picture}>
        <Icon name={icon} size={30} />
      </div>
      <Text fw={600}>{title}</Text>
      <Text c="dimmed" size="sm" maw={460} component="div">
        {children}
      </Text>
    </div>
  );
}
