// SPDX-License-Identifier: Apache-2.0

// Command ibconsole is a terminal console for an InfiniBand subnet.
package main

import (
	"os"

	"example.org/ibconsole/internal/cli"
	_ "example.org/ibconsole/internal/noprobe" // before anything draws
)

func main() { os.Exit(cli.Main()) }
