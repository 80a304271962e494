import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { usePageFocus } from './forms/use-focus-return.ts';
import classes from './page-head.module.css';

export interface PageHeadProps {
  readonly title: string;
  /** The open part of the page, which the title of the window names, too. */
  readonly part?: string | undefined;
  readonly about?: ReactNode;
  /** Buttons of the page. */
  readonly actions?: ReactNode;
  /** Link to the parent page. */
  readonly parent?: ReactNode;
}

export function PageHead({ title, part, about, actions, parent }: PageHeadProps) {
  const heading = usePageFocus();
  useEffect(() => {
    document.title = [part, title, 'Quartermaster'].filter(Boolean).join(' · ');
  }, [part, title]);
  return (
    <header className={classes.head}>
      {parent}
      <div className={classes.row}>
        <Title order={1} size="h2" ref={heading} tabIndex={-1} className={classes.title}>
          {title}
        </Title>
        {about === undefined ? null : (
          <Text c="dimmed" size="sm" component="div" className={classes.about}>
            {about}
          </Text>
        )}
        {actions === undefined ? null : (
          <Group gap="xs" className={classes.actions}>
            {actions}
          </Group>
        )}
      </div>
    </header>
  );
}
