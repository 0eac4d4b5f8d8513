// SPDX-License-Identifier: Apache-2.0

package shell

import "example.org/ibconsole/shell/lang"

// commands lists every command, in the order of help.
func commands() []Spec { return withFeatures(nil) }

// Help explains the command that words name; without any it lists them all.
func (sh *Shell) Help(words ...string) (string, error) { return lang.Help(sh.specs, words...) }
