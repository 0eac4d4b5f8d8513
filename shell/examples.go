// SPDX-License-Identifier: Apache-2.0

package shell

// examples are a script for each command, as one could type it on the simulated subnet that opens where there is no other. Files
// that they only read are the user's.
var examples = map[string]string{
	"show":  "show links leaf-01",
	"trace": "trace node-0001 node-0648 back",
}
