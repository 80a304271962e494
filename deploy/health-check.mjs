// The health check of the container image. It exits with 0 when the service of this container can serve requests.
const { QUARTERMASTER_SERVE, QUARTERMASTER_FILES_PORT, QUARTERMASTER_PLUGINS_PORT } = process.env;
const port = QUARTERMASTER_SERVE === 'plugins' ? QUARTERMASTER_PLUGINS_PORT || 8081 : QUARTERMASTER_FILES_PORT || 8080;
try {
  const { status } = await fetch(`http://127.0.0.1:${port}/v1/ready`, { signal: AbortSignal.timeout(4_000) });
  console.log(`/v1/ready: ${status}`);
  process.exitCode = status === 200 ? 0 : 1;
} catch (error) {
  console.error(`/v1/ready: ${error.cause?.code ?? error.name}`);
  process.exitCode = 1;
}
