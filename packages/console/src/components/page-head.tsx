import { Group, Text, Title } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { guideTo } from '../app/guides.ts';
import { basePath } from '../base-path.ts';
import { useLanguage } from '../language/language.tsx';
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

/** Leads to the guide in another tab, so that the page keeps what was typed. */
function GuideLink({ title }: { title: string }) {
  const { t } = useLanguage();
  const guide = guideTo(useLocation().pathname);
  return guide === undefined ? null : (
    <a
      className={classes.guide}
      href={`${basePath}/docs/${guide}`}
      target="_blank"
      rel="noreferrer"
      aria-label={t('nav.guideTo', { title })}
    >
      {t('nav.guide')}
    </a>
  );
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
        <div className={classes.title}>
          <Title order={1} size="h2" ref={heading} tabIndex={-1}>
            {title}
          </Title>
          <GuideLink title={title} />
        </div>
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
