/** How a command is run: its directory, and variables on top of those of this process. */
interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command and returns its standard output. Throws an Error with what it printed if it fails. */
export async function run(command: readonly string[], { cwd, env }: Surroundings = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const status = await child.exited;
  if (status !== 0) {
    throw new Error(`${command.join(' ')}: exit status ${status}\n${`${out}${errors}`.trim().slice(-2_000)}`);
  }
  return out;
}

/** Throws unless `tool` is on the PATH. `from` says which package of Debian has it. */
export function need(tool: string, from: string): void {
  if (Bun.which(tool) === null) throw new Error(`${tool} is missing: sudo apt-get install ${from}`);
}

/** Returns a commit's file or folder list as npm, tar and dpkg order it: by octets, on every machine. */
export const sorted = (names: Iterable<string>): string[] => [...names].sort((a, b) => (a < b ? -1 : 1));
