// SPDX-License-Identifier: Apache-2.0

// Program bare imports Bubble Tea and does nothing else, so it sends the query for the background colour.
package main

import _ "github.com/charmbracelet/bubbletea"

func main() {}
