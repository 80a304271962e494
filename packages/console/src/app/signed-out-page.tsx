import { Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { basePath } from '../base-path.ts';
import { LanguageChoice, SchemeChoice } from './choices.tsx';
import classes from './signed-out-page.module.css';

/** The layout of the pages without a session: sign-in and set-up. */
export function SignedOutPage({ title, about, children }: { title: string; about: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Quartermaster`;
  }, [title]);
  return (
    <main className={classes.page}>
      <Paper withBorder shadow="sm" p="xl" radius="lg" className={classes.card}>
        <Stack gap="lg">
          <div className={classes.brand}>
            <img src={`${basePath}/favicon.svg`} width={36} height={36} alt="" />
            <Text fw={700} size="lg">
              Quartermaster
            </Text>
          </div>
          <div>
            <Title order={1} size="h3">
              {title}
            </Title>
            <Text c="dimmed" size="sm" mt={6}>
              {about}
            </Text>
          </div>
          {children}
        </Stack>
      </Paper>
      <div className={classes.choices}>
        <LanguageChoice />
        <SchemeChoice />
      </div>
    </main>
  );
}
