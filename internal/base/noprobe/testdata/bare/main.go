// SPDX-License-Identifier: Apache-2.0

// Program bare imports Bubble Tea and does nothing, so it sends the query.
package main

import _ "github.com/charmbracelet/bubbletea"

func main() {}
