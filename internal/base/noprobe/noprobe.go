// SPDX-License-Identifier: Apache-2.0

// Package noprobe keeps Bubble Tea from querying the terminal's background colour. Program main imports it only for
// this effect.
//
// Bubble Tea v1 sends the query in its own init function, so every program that imports Bubble Tea sends it. On a
// terminal that does not respond, such as a serial or IPMI console, every command would wait for five seconds. Lip
// Gloss does not query the colour if a program has set it, so the init function of this package sets it. No other init
// function of the program has an effect.
//
// This works because Go initialises packages that are ready in the order of their import paths, and example.org comes
// before github.com/charmbracelet. So this package must import nothing but Lip Gloss, and the module's path must sort
// before that of Bubble Tea.
package noprobe

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
