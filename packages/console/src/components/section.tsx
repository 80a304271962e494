import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './card-list.module.css';

export interface SectionProps {
  readonly id: string;
  readonly title: ReactNode;
  readonly size?: 'h4' | 'h5';
  readonly about?: string;
  /** Buttons of the section. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page, which screen readers find by its heading. */
export function Section({ id, title, size = 'h4', about, actions, children }: SectionProps) {
  return (
    <section aria-labelledby={id}>
      <Group justify="space-between" align="flex-end" mb={about === undefined ? 'sm' : 'md'}>
        <div className={classes.words}>
          <Title order={2} size={size} id={id}>
            {title}
          </Title>
          {about === undefined ? null : (
            <Text c="dimmed" size="sm">
              {about}
            </Text>
          )}
        </div>
        {actions}
      </Group>
      {children}
    </section>
  );
}
