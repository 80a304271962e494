import { execFile } from 'node:child_process';
import { access, copyFile, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installInto, provideArchives } from './packed-archives.ts';
import { requireTools, toolsNamed } from './system-tools.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const suite = 'bookworm';
/** Debian without any package that the image needs, so that a package missing in the Dockerfile is noticed. */
const cachedDebian = join(root, 'node_modules/.cache/container', `${suite}.tar`);

/** The configuration that an image declares, in Docker's format. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Volumes: Readonly<Record<string, object>>;
}

export interface Image {
  readonly config: ImageConfig;
  /** The folder with the files of the image. */
  readonly files: string;
  /** The id of a container of it, for `buildah run`. */
  readonly container: string;
  /** Runs buildah on the store of this image. */
  buildah(...args: readonly string[]): Promise<string>;
  /** The options of buildah that select that store. */
  readonly store: readonly string[];
}

/**
 * Builds `deploy/Dockerfile` from the packed archive, without an image registry: on a base of debootstrap and with the Node.js of
 * this checkout. The store of images is in `folder`; no file system stays mounted.
 */
export async function buildImage(folder: string): Promise<Image> {
  requireTools(toolsNamed('buildah', 'debootstrap', 'bubblewrap'));
  await provideDebian();
  const context = await createContext(folder);
  const store = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const buildah = async (...args: readonly string[]) => {
    const { stdout } = await run('/usr/bin/buildah', [...store, ...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  };
  await buildah(...['from', '--name', 'debian', 'scratch']);
  await buildah('add', '--quiet', 'debian', cachedDebian, '/');
  await buildah('commit', '--quiet', '--rm', 'debian', 'localhost/debian');
  await buildNodeImage(buildah);
  await buildah(
    ...['build', '--isolation', 'chroot', '--format', 'docker', '--layers=false', '--pull-never', '--quiet'],
    ...['--build-arg', 'DEBIAN_IMAGE=localhost/debian', '--build-arg', 'NODE_IMAGE=localhost/node'],
    ...['--build-arg', 'NPM_OPTIONS=--offline', '--volume', `${join(folder, 'npm')}:/root/.npm`],
    ...['--file', join(context, 'deploy/Dockerfile'), '--tag', 'localhost/quartermaster', context],
  );
  const container = await buildah('from', '--pull-never', 'localhost/quartermaster');
  const declared = await buildah('inspect', '--type', 'image', 'localhost/quartermaster');
  const { config } = (JSON.parse(declared) as { Docker: { config: ImageConfig } }).Docker;
  return { config, files: await buildah('mount', container), container, buildah, store };
}

/** Installs Debian into a tar file, once for this checkout. Its temporary mounts end with a mount namespace of their own. */
async function provideDebian(): Promise<void> {
  if (await exists(cachedDebian)) return;
  await mkdir(dirname(cachedDebian), { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-debian-'));
  try {
    const target = join(folder, 'root');
    await run('unshare', ['--mount', '--', '/usr/sbin/debootstrap', '--variant=minbase', suite, target]);
    await run('tar', ['--create', '--numeric-owner', '--file', join(folder, 'tar'), '--directory', target, '.']);
    // Another process may have the cache in another file system.
    await copyFile(join(folder, 'tar'), `${cachedDebian}.${process.pid}`);
    await rename(`${cachedDebian}.${process.pid}`, cachedDebian);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates the image that the Dockerfile builds on: Debian with Node.js, npm and the library that Node.js needs. */
async function buildNodeImage(buildah: Image['buildah']): Promise<void> {
  const { stdout: npm } = await run('sh', ['-c', 'realpath "$(command -v npm)"']);
  const { stdout: libraries } = await run('ldd', [process.execPath]);
  const atomic = /libatomic\.so\.1 => (\S+)/.exec(libraries)?.[1];
  await buildah(...['from', '--pull-never', '--name', 'node', 'localhost/debian']);
  await buildah('add', '--quiet', 'node', process.execPath, '/usr/local/bin/node');
  await buildah('add', '--quiet', 'node', dirname(dirname(npm.trim())), '/usr/local/lib/node_modules/npm');
  if (atomic !== undefined) await buildah('add', '--quiet', 'node', atomic, '/usr/lib/libatomic.so.1');
  const files = await buildah('mount', 'node');
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(files, 'usr/local/bin/npm'));
  await buildah('commit', '--quiet', '--rm', 'node', 'localhost/node');
}

/** Creates the files that the Dockerfile copies, and the cache of npm that it installs from. */
async function createContext(folder: string): Promise<string> {
  const context = join(folder, 'context');
  await mkdir(join(context, 'deploy'), { recursive: true });
  for (const name of ['deploy/Dockerfile', 'deploy/health-check.mjs', '.dockerignore']) {
    await copyFile(join(root, name), join(context, name));
  }
  const archives = await provideArchives(join(context, 'dist/packages'));
  await rm(join(context, 'dist/packages/build'), { recursive: true, force: true });
  // The build may need certificates and proxies of this machine, so npm gets every package here.
  const archive = archives.get('quartermaster') ?? '';
  await installInto(join(folder, 'installed'), ['--cache', join(folder, 'npm'), archive]);
  return context;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
