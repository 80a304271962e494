import { Alert, Button, Group, SegmentedControl, Text, Title } from '@mantine/core';
import type { Chunk, RecordItem } from '@quartermaster/contract';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { usePageChoice } from '../../app/page-state.ts';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../icons.tsx';
import { describePlace, hasPages, nameOfRecord } from '../records/record-words.ts';
import { PageView } from './page-view.tsx';
import { PairView } from './pair-view.tsx';
import classes from './source.module.css';
import { TextView } from './text-view.tsx';

const views = ['page', 'text'] as const;

export interface SourcePanelProps {
  readonly record: RecordItem;
  /** The passage to mark. */
  readonly chunk: Chunk | undefined;
  /** Each other number moves the focus to the heading of the panel. */
  readonly focusCount: number;
  /** What the button that leaves the panel says, and what it does. Escape does the same. */
  readonly leave: { readonly label: string; readonly go: () => void } | undefined;
}

/** A document with one of its passages: the page of a PDF document or a picture, the rows of a sheet, otherwise the extracted text. */
export function SourcePanel({ record, chunk, focusCount, leave }: SourcePanelProps) {
  const { t } = useLanguage();
  const [view, setView] = usePageChoice('view', views, 'replace');
  const isPaged = hasPages(record);
  return (
    <Frame title={nameOfRecord(record)} focusCount={focusCount} leave={leave}>
      <Text size="xs" c="dimmed" className={classes.name}>
        {describePlace(chunk?.locator ?? null, t)}
      </Text>
      {record.status === 'creating' ? (
        <Alert variant="light" color="cyan" icon={<Icon name="refresh" />} role="status" my="xs">
          {t('source.processing')}
        </Alert>
      ) : null}
      {isPaged ? (
        <SegmentedControl
          size="xs"
          my="xs"
          aria-label={t('source.view')}
          value={view}
          onChange={setView}
          data={views.map((value) => ({ value, label: t(`source.view.${value}`) }))}
        />
      ) : null}
      <View kind={record.type === 'qa_sheet' ? 'pairs' : isPaged ? view : 'text'} record={record} chunk={chunk} />
    </Frame>
  );
}

function View({ kind, ...shown }: { kind: 'pairs' | 'page' | 'text'; record: RecordItem; chunk: Chunk | undefined }) {
  if (kind === 'pairs') return <PairView {...shown} />;
  return kind === 'page' ? <PageView {...shown} /> : <TextView {...shown} />;
}

export interface FrameProps extends Pick<SourcePanelProps, 'focusCount' | 'leave'> {
  readonly title: string;
  readonly children: ReactNode;
}

/** The border, the heading and the way out of a panel. */
export function Frame({ title, focusCount, leave, children }: FrameProps) {
  const { t } = useLanguage();
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focusCount > 0) heading.current?.focus();
  }, [focusCount]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && leave !== undefined) leave.go();
  };
  return (
    <section className={classes.panel} aria-labelledby={id} onKeyDown={onKeyDown}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Title order={2} size="h4" id={id} ref={heading} tabIndex={-1} className={`${classes.heading} ${classes.name}`}>
          {t('source.title', { name: title })}
        </Title>
        {leave === undefined ? null : (
          <Button size="compact-sm" variant="default" onClick={leave.go}>
            {leave.label}
          </Button>
        )}
      </Group>
      {children}
    </section>
  );
}
