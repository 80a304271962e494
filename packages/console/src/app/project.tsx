import type { OwnSession, Project } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from 'react';
import { chooseProject } from '../api/addresses.ts';
import { sessionKey, useProjects } from '../api/session.ts';
import { storageKey } from '../base-path.ts';
import { type Action, may } from './may.ts';
import { useChangePage, usePageState } from './page-state.ts';

interface ProjectChoice {
  readonly session: OwnSession;
  readonly projects: readonly Project[];
  /** '' until the projects are known, and if the URL names none of them. */
  readonly projectId: string;
  /** Whether the URL names a project that does not exist. */
  readonly isMissing: boolean;
  readonly choose: (projectId: string) => void;
}

const projectKey = storageKey('project');
const ProjectContext = createContext<ProjectChoice | null>(null);

/** Provides the project that the URL names. A URL without one gets the last one chosen, if it exists. */
export function ProjectProvider({ session, children }: { session: OwnSession; children: ReactNode }) {
  const loaded = useProjects().data;
  const projects = loaded ?? none;
  const named = usePageState().project;
  const change = useChangePage();
  const isKnown = (id: string | null | undefined) => projects.some((project) => project.project_id === id);
  const projectId = named !== undefined && isKnown(named) ? named : '';
  const remembered = localStorage.getItem(projectKey);
  const first = (isKnown(remembered) ? remembered : projects[0]?.project_id) ?? '';
  useForgetOthers(projectId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `change` is another function at each rendering.
  useEffect(() => {
    if (projectId !== '') localStorage.setItem(projectKey, projectId);
    else if (named === undefined && first !== '') change({ project: first }, 'replace');
  }, [projectId, named, first]);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const value = useMemo(() => {
    const choose = (id: string) => {
      // A page of one object belongs to its project, so the list of such objects follows. A request of an application does not.
      const [, section = ''] = pathname.split('/');
      const to = section === 'oauth' ? pathname : `/${section}`;
      void navigate({ to: to as '/', search: { project: id } }); // the first part of a path of a page is a page
    };
    const isMissing = loaded !== undefined && named !== undefined && projectId === '';
    return { session, projects, projectId, isMissing, choose };
  }, [session, projects, projectId, loaded, named, navigate, pathname]);
  return <ProjectContext value={value}>{children}</ProjectContext>;
}

/** The requests of the pages below name the project, so it is set before they render. What is cached belongs to one. */
function useForgetOthers(projectId: string): void {
  const queries = useQueryClient();
  const last = useRef(projectId);
  chooseProject(projectId);
  if (last.current === projectId) return;
  last.current = projectId;
  const isOfProject = (key: unknown) => key !== sessionKey[0] && key !== 'projects';
  queries.removeQueries({ predicate: ({ queryKey }) => isOfProject(queryKey[0]) });
}

const none: readonly Project[] = [];

export function useProjectChoice(): ProjectChoice {
  const choice = useContext(ProjectContext);
  if (choice === null) throw new Error('useProjectChoice outside of ProjectProvider');
  return choice;
}

/** Whether the person may do something in the chosen project. */
export function useMay(action: Action): boolean {
  const { session, projectId } = useProjectChoice();
  return may(session, projectId, action);
}
