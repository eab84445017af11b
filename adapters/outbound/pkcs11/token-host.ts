import type { Cryptoki } from 'pkcs11js';
import { ckf } from './cryptoki.ts';
import { TokenFailure } from './failure.ts';
import type { Answer, Operation, Operations, Place, Question } from './messages.ts';
import { Token } from './token.ts';

// The process that loads a PKCS #11 module for a key store, so that a module that hangs or crashes does not affect the
// gateway.

let module: Cryptoki | undefined;
let token: Token | undefined;

type Handlers = {
  readonly [O in Operation]: (
    of: Operations[O]['arguments'],
  ) => Operations[O]['result'] | Promise<Operations[O]['result']>;
};

const opened = (): Token => {
  if (!token) throw new TokenFailure('absent', 'the token is not open');
  return token;
};

const handlers: Handlers = {
  async open(place) {
    token = await open(place);
    return token.facts();
  },
  login({ pin }) {
    opened().login(pin);
    return null;
  },
  generate: ({ template, label }) => opened().generate(template, label),
  find: (by) => opened().find(by),
  sign: (what) => opened().sign(what),
  async remove({ id }) {
    await opened().remove(id);
    return null;
  },
  check() {
    opened().check();
    return null;
  },
};

async function open(place: Place): Promise<Token> {
  const { PKCS11, CK_PARAMS_RSA_PSS } = await driver();
  try {
    module = new PKCS11();
    module.load(place.library);
    const { parameters } = place;
    // The driver drops the last character of the parameters.
    const ofNss = parameters === undefined ? {} : { libraryParameters: `${parameters} ` };
    module.C_Initialize({ flags: ckf.osLockingOk, ...ofNss });
  } catch (error) {
    throw new TokenFailure('library', error instanceof Error ? error.message : String(error));
  }
  return new Token(module, CK_PARAMS_RSA_PSS, place);
}

async function driver() {
  try {
    return (await import('pkcs11js')).default;
  } catch (error) {
    throw new TokenFailure('driver', error instanceof Error ? error.message : String(error));
  }
}

async function answer({ number, operation, arguments: given }: Question): Promise<Answer> {
  try {
    const handle = handlers[operation] as (given: unknown) => unknown;
    return { number, result: await handle(given) };
  } catch (error) {
    if (!(error instanceof TokenFailure)) throw error;
    const { kind, message: detail, code } = error;
    return { number, failure: { kind, detail, ...(code !== undefined && { code }) } as const };
  }
}

process.on('message', async (question: Question) => {
  const answered = await answer(question);
  if (process.connected) process.send?.(answered);
});

// The gateway receives these signals too. It completes operations in progress and then closes this process.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

process.on('disconnect', () => {
  try {
    module?.C_Finalize();
  } catch {
    // It ends with the process.
  }
  process.exit();
});
