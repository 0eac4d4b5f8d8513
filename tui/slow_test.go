// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// TestSlowWriter checks that bytes are written completely and in order, and that flush waits for them.
func TestSlowWriter(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newSlowWriter(w)
	var want bytes.Buffer
	for i := range 300 {
		part := bytes.Repeat([]byte{byte(i)}, 1000)
		want.Write(part)
		if n, err := s.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if !s.behind() {
		t.Error("300,000 bytes fit a pipe without a reader")
	}
	got := make(chan []byte)
	go func() {
		var all bytes.Buffer
		_, _ = all.ReadFrom(r)
		got <- all.Bytes()
	}()
	s.flush(t.Context())
	if s.behind() {
		t.Error("behind after a flush")
	}
	s.stop(t.Context())
	_ = w.Close()
	if !bytes.Equal(<-got, want.Bytes()) {
		t.Error("the output differs from the input")
	}
}

// TestSlowLink checks that keys are handled and frames skipped while the terminal is not read: 200 keys that change
// most of the screen leave less than ten frames of 80x24.
func TestSlowLink(t *testing.T) {
	c := startChild(t, "sim")
	c.await(0, "18 switches, 72 hosts")
	c.types("3", "LFT of")
	c.pause(true)
	from := c.mark()
	for range 100 {
		if _, err := c.pty.WriteString("Gg"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := c.pty.WriteString("G"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	c.pause(false)
	c.await(from, "90  node-0072")
	c.types("q", "ENDED")
	raw, text := c.output(from)
	if most := 10 * 80 * 24; len(raw) > most+64*1024 {
		t.Errorf("%d bytes come after the pause, more than %d and what the kernel keeps", len(raw), most)
	}
	if n := strings.Count(ansi.Strip(text), "90  node-0072"); n > 20 {
		t.Errorf("%d frames", n)
	}
}
