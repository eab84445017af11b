import { loadConfiguration } from '../host/config-file.ts';
import type { Rotation } from '../host/rotate.ts';
import { type Command, exit, placeOptions, printJson, withGateway } from './command.ts';

const details = `Stop the gateway first. The command encrypts again everything that is encrypted at rest: the keys in key files, the
secrets of devices and webhooks, the key that signs tokens, and credentials for upstream CAs. With a key file, the command
generates the new key. With a passphrase, the new one is new_passphrase in [secrets]; set passphrase to it afterwards. To
continue an interrupted rotation, run the command again. The old key stays usable until the rotation is complete.

If several gateways share a database, rotate one at a time. Run the command with --prepare on one of them, copy
master.json.new and master.key.new to the data directories of all others, and restart each. Then, one gateway after the
other, stop it, run the command with --resume and start it again. A gateway without the new key stops with an error.`;

export const secretsCommands: readonly Command[] = [
  {
    name: 'secrets rotate',
    positionals: [],
    summary: 'Replace the master key, and encrypt everything at rest under the new one.',
    details,
    options: {
      prepare: { type: 'boolean', help: 'Only generate the new key' },
      resume: { type: 'boolean', help: 'Only complete a rotation that was prepared or interrupted' },
      ...placeOptions,
    },
    async run(invocation) {
      const { prepare, resume, json } = invocation.options;
      const loaded = await loadConfiguration(invocation.place, invocation.catalog);
      const { rotateMasterKey } = await import('../host/rotate.ts');
      const { state, secrets, source } = await rotateMasterKey(loaded, {
        prepare: prepare === true,
        resume: resume === true,
        reseal: () =>
          withGateway(invocation, ({ gateway, principal }) => gateway.rotateSecrets(principal), {
            sealWithNew: true,
          }),
      });
      if (json === true) printJson({ state, secrets });
      else console.log(texts[state](source, secrets));
      return exit.success;
    },
  },
];

const texts: { readonly [S in Rotation['state']]: (source: Rotation['source'], secrets: number) => string } =
  {
    none: () => 'No rotation of the master key is in progress.',
    prepared: (source) =>
      source === 'file'
        ? 'The new master key has been generated. Copy master.json.new and the new key file to all other gateways, and restart each.'
        : 'The rotation has been prepared. Copy master.json.new to all other gateways, set new_passphrase there, and restart each.',
    rotated: (source, secrets) =>
      `The master key has been replaced, and ${secrets} secrets have been encrypted again.${
        source === 'file' ? '' : ' In [secrets], set passphrase to the new one and remove new_passphrase.'
      } Make a new backup: earlier backups contain the old key.`,
  };
