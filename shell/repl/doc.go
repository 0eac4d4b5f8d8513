// SPDX-License-Identifier: Apache-2.0

// Package repl reads commands from a terminal, with completion and a kept
// history, and from anything else line by line.
//
// It alone knows go-prompt, whose version 0.2.6 opens /dev/tty whenever a Prompt is made, never closes it and
// panics where there is none; leaves a terminal raw; ends the process by itself when signals come; and never
// submits what is pasted. So there is one Prompt in a process, for all Runs, which reads through our own
// keyboard and writes through our own screen, and is only ever asked for one line.
package repl
