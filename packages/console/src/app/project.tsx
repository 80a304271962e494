import type { Project, Session } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { chooseProject } from '../api/addresses.ts';
import { sessionKey, useProjects } from '../api/session.ts';
import { storageKey } from '../base-path.ts';

interface ProjectChoice {
  readonly session: Session;
  readonly projects: readonly Project[];
  /** '' until the projects are known. */
  readonly projectId: string;
  readonly choose: (projectId: string) => void;
}

const projectKey = storageKey('project');
const ProjectContext = createContext<ProjectChoice | null>(null);

/** Provides the current project: that of the link, or the last one chosen, if it exists. */
export function ProjectProvider({ session, children }: { session: Session; children: ReactNode }) {
  const queries = useQueryClient();
  const projects = useProjects().data ?? none;
  const [wanted, setWanted] = useState(() => projectOfLink() ?? localStorage.getItem(projectKey) ?? '');
  const projectId = (projects.find((project) => project.project_id === wanted) ?? projects[0])?.project_id ?? '';
  // The requests of the pages below name the project, so it is set before they render.
  chooseProject(projectId);
  const value = useMemo(() => {
    const choose = (id: string) => {
      localStorage.setItem(projectKey, id);
      chooseProject(id);
      setWanted(id);
      const isOfProject = (key: unknown) => key !== sessionKey[0] && key !== 'projects';
      queries.removeQueries({ predicate: ({ queryKey }) => isOfProject(queryKey[0]) });
    };
    return { session, projects, projectId, choose };
  }, [session, projects, projectId, queries]);
  return <ProjectContext value={value}>{children}</ProjectContext>;
}

/** Links that MCP clients show name the project of their page. */
function projectOfLink(): string | null {
  return new URLSearchParams(location.search).get('project');
}

const none: readonly Project[] = [];

export function useProjectChoice(): ProjectChoice {
  const choice = useContext(ProjectContext);
  if (choice === null) throw new Error('useProjectChoice outside of ProjectProvider');
  return choice;
}
