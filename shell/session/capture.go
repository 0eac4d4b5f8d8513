// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"

	"example.org/ibconsole/mad/capture"
)

// ErrNoCapture says that no capture runs.
var ErrNoCapture = errors.New("no capture is running (try: capture FILE)")

// Capture begins to write every MAD that is sent and received to a new file, in
// a form that Wireshark reads.
func (s *Session) Capture(path string) error {
	c := s.recording()
	if c == nil {
		return ErrOffline
	}
	return c.Start(path, capture.Options{OnError: func(err error) {
		s.update(ChangeLive, func(st *State) { st.Warnings = append(st.Warnings, "capture: "+err.Error()) })
	}})
}

// Capturing returns the file of the capture that runs, "" if none does.
func (s *Session) Capturing() string {
	c := s.recording()
	if c == nil {
		return ""
	}
	path, running := c.Capturing()
	if !running {
		return ""
	}
	return path
}

// StopCapture ends the capture.
func (s *Session) StopCapture() (path string, stats capture.Stats, err error) {
	if path = s.Capturing(); path == "" {
		return "", stats, ErrNoCapture
	}
	stats, err = s.recording().Stop()
	return path, stats, err
}

// recording is what can capture, nil for a file.
func (s *Session) recording() *capture.Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == nil {
		return nil
	}
	return s.line.capture
}
