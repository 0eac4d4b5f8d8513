// SPDX-License-Identifier: Apache-2.0

// Package tui is the screen of ibconsole: panes over one session.
//
// A key is a short way to say a command of package shell, and the log shows what it said. Commands run beside
// the screen: Update and View compute nothing that grows with the subnet but once a picture, and draw only
// the rows that are seen. What the session holds comes in as a [session.State], whose pictures are values;
// everything derived from one is kept by its pointer.
package tui
