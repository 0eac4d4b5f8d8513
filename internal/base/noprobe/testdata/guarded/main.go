// SPDX-License-Identifier: Apache-2.0

// Program guarded is bare with noprobe imported first.
package main

import (
	_ "example.org/ibconsole/internal/base/noprobe"
	_ "github.com/charmbracelet/bubbletea"
)

func main() {}
