// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"errors"

	"example.org/ibconsole/mad/capture"
)

// ErrNoCapture says that no capture runs.
var ErrNoCapture = errors.New("no capture is running (try: capture FILE)")

// Capture begins to write every MAD that is sent and received to a new file, in a form that Wireshark reads.
func (c *Connection) Capture(path string, failed func(error)) error {
	l := c.last()
	if l == nil {
		return ErrOffline
	}
	return l.capture.Start(path, capture.Options{OnError: failed})
}

// Capturing returns the file of the capture that runs, "" if none does.
func (c *Connection) Capturing() string {
	if l := c.last(); l != nil {
		if path, running := l.capture.Capturing(); running {
			return path
		}
	}
	return ""
}

// StopCapture ends the capture.
func (c *Connection) StopCapture() (path string, stats capture.Stats, err error) {
	if path = c.Capturing(); path == "" {
		return "", stats, ErrNoCapture
	}
	stats, err = c.last().capture.Stop()
	return path, stats, err
}
