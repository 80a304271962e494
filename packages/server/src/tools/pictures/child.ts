import { readFileSync } from 'node:fs';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { frameKinds } from '../../platform/processes/frames.ts';
import { openParentChannel } from '../../platform/processes/parent-channel.ts';
import { pictureLimits } from './picture-limits.ts';

/**
 * The process that converts SVG pictures, one after another. It has no environment, no network, and no files except its
 * own program. A picture comes in as one frame of bytes; a PNG, or an empty message when there is none, goes out.
 */
// The server ends this process. A signal to the whole process group (Ctrl-C) must not fail the current picture.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

await initWasm(readFileSync(new URL(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))));
const font = readFileSync(new URL('roboto/regular.ttf', import.meta.url));
const family = 'Roboto';
const options = {
  // Models see a transparent background as black, and black text on it not at all.
  background: '#fff',
  font: {
    fontBuffers: [font],
    defaultFontFamily: family,
    sansSerifFamily: family,
    serifFamily: family,
    monospaceFamily: family,
    cursiveFamily: family,
    fantasyFamily: family,
  },
};

// Compiles the library, so that its compilation does not count towards the time limit of a picture.
convert(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">a</text></svg>'));
const channel = openParentChannel((_kind, svg) => void answer(svg));

async function answer(svg: Buffer): Promise<void> {
  try {
    await channel.send(frameKinds.bytes, convert(svg));
  } catch (error) {
    // After a trap, the memory of the WebAssembly instance is in an unknown state.
    if (!(error instanceof Error) || error.name === 'RuntimeError') process.exit(1);
    await channel.send(frameKinds.message, '');
  }
}

/** @throws Error when the picture is invalid, too large, or incomplete without other files */
function convert(svg: Buffer): Uint8Array {
  const original = new Resvg(svg, options);
  const { width, height } = original;
  const longer = Math.max(width, height);
  if (longer > pictureLimits.declaredSide) throw new Error(`the picture has ${longer} pixels`);
  if (original.imagesToResolve().length > 0) throw new Error('the picture refers to other files');
  const mode = width >= height ? 'width' : 'height';
  const picture =
    longer <= pictureLimits.side
      ? original
      : new Resvg(svg, { ...options, fitTo: { mode, value: pictureLimits.side } });
  const png = picture.render().asPng();
  if (png.length > pictureLimits.pngBytes) throw new Error(`the PNG has ${png.length} bytes`);
  return png;
}
