import { ActionIcon, AppShell, Burger, Group, NativeSelect, NavLink, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import type { OwnSession } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { leaveSession, useProjects } from '../api/session.ts';
import { basePath } from '../base-path.ts';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Icon, type IconName } from '../components/icons.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHead } from '../components/page-head.tsx';
import { useToasts } from '../components/toasts.tsx';
import { type MessageKey, useLanguage } from '../language/language.tsx';
import { LanguageChoice, SchemeChoice } from './choices.tsx';
import { ProjectProvider, useMay, useProjectChoice } from './project.tsx';
import classes from './shell.module.css';

const entries = [
  ['/', 'nav.overview', 'overview'],
  ['/files', 'nav.files', 'files'],
  ['/collections', 'nav.collections', 'collections'],
  ['/jobs', 'nav.jobs', 'refresh'],
  ['/catalogue', 'nav.catalogue', 'catalogue'],
  ['/runs', 'nav.runs', 'runs'],
  ['/credentials', 'nav.credentials', 'key', 'manage'],
  ['/applications', 'nav.applications', 'globe'],
  ['/people', 'nav.people', 'people', 'manage'],
  ['/audit', 'nav.audit', 'search', 'manage'],
  ['/settings', 'nav.settings', 'settings'],
] as const satisfies ReadonlyArray<readonly [string, MessageKey, IconName, 'manage'?]>;

/** The frame of every page: navigation, project and session. */
export function Shell({ session }: { session: OwnSession }) {
  const { t } = useLanguage();
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes.
  useEffect(close, [pathname]);
  const isNarrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false });
  const isOver = isNarrow && opened;
  const button = useMenuFocus(isOver, close);
  return (
    <ProjectProvider session={session}>
      <AppShell
        header={{ height: 56 }}
        navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        padding={{ base: 'md', md: 'xl' }}
      >
        <a className={classes.skip} href="#content">
          {t('nav.skip')}
        </a>
        <AppShell.Header className={classes.header}>
          <Burger
            ref={button}
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={t('nav.menu')}
            aria-expanded={opened}
            aria-controls="menu"
          />
          <Link to="/" className={classes.brand} aria-label="Quartermaster">
            <img src={`${basePath}/favicon.svg`} width={26} height={26} alt="" />
            <Text fw={700} component="span" visibleFrom="xs">
              Quartermaster
            </Text>
          </Link>
          <ProjectSelect />
          <Group gap={4} ml="auto" wrap="nowrap">
            <LanguageChoice />
            <SchemeChoice />
            <SignOut />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar id="menu" p="sm" aria-label={t('nav.main')} inert={isNarrow && !opened}>
          <MenuEntries />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1} className={classes.main} inert={isOver}>
          <Content />
        </AppShell.Main>
      </AppShell>
    </ProjectProvider>
  );
}

function MenuEntries() {
  const { t } = useLanguage();
  const { pathname } = useLocation();
  const isManager = useMay('manage');
  return (
    <>
      {entries
        .filter(([, , , needs]) => needs === undefined || isManager)
        .map(([to, label, icon]) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={t(label)}
            leftSection={<Icon name={icon} />}
            active={to === '/' ? pathname === '/' : pathname.startsWith(to)}
            className={classes.entry}
          />
        ))}
      <NavLink
        href={`${basePath}/docs`}
        label={t('nav.docs')}
        leftSection={<Icon name="docs" />}
        className={classes.entry}
        mt="auto"
      />
    </>
  );
}

/** In a narrow window the menu covers the page: it takes the focus when it opens, and Escape closes it. */
function useMenuFocus(isOver: boolean, close: () => void) {
  const button = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `close` is another function at each rendering.
  useEffect(() => {
    if (!isOver) return;
    document.querySelector<HTMLElement>('#menu a')?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      close();
      button.current?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [isOver]);
  return button;
}

function Content() {
  const projects = useProjects();
  const { session, projectId, isMissing } = useProjectChoice();
  if (projects.error !== null) return <Failure error={projects.error} onRetry={() => void projects.refetch()} />;
  if (projects.data?.length === 0) return <NoProject accountId={session.account_id} />;
  if (isMissing) return <ProjectMissing />;
  if (projectId === '') return <Loading />;
  return (
    <div className={classes.content} key={projectId}>
      <Outlet />
    </div>
  );
}

/** For a person without a role. */
function NoProject({ accountId }: { accountId: string }) {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t('people.noProject')} />
      <Empty icon="people" title={t('people.noProject')}>
        {t('people.noProjectAbout', { id: accountId })}
      </Empty>
    </>
  );
}

function ProjectMissing() {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t('project.missing')} />
      <Empty icon="search" title={t('project.missing')}>
        {t('project.missingAbout')}
      </Empty>
    </>
  );
}

function ProjectSelect() {
  const { t } = useLanguage();
  const { projects, projectId, isMissing, choose } = useProjectChoice();
  const options = projects.map((project) => ({ value: project.project_id, label: project.name }));
  return (
    <NativeSelect
      aria-label={t('shell.project')}
      size="xs"
      className={classes.project}
      value={projectId}
      onChange={(event) => choose(event.currentTarget.value)}
      data={isMissing ? [{ value: '', label: '–' }, ...options] : options}
    />
  );
}

function SignOut() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { showError } = useToasts();
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      c="var(--mantine-color-text)"
      size="lg"
      aria-label={t('shell.signOut')}
      title={t('shell.signOut')}
      onClick={() => void leaveSession(queries, false).catch(showError)}
    >
      <Icon name="signOut" />
    </ActionIcon>
  );
}
