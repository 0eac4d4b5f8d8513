// SPDX-License-Identifier: Apache-2.0

package shell

// pathsCommands are those of the commands paths that no feature has.
func pathsCommands() []Spec {
	return []Spec{{Name: "paths", Subcommands: []Spec{pathsFollowCommand()}}}
}
