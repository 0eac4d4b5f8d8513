// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compress runs a compressor.
func compress(t *testing.T, text []byte, command ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(command[0], append(command[1:], "-c")...)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readAll(ctx context.Context, path string, kind Kind) (got []byte, err error) {
	err = Read(ctx, path, kind, func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	})
	return got, err
}

func put(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDecoded checks that plain and compressed files have the same content, and that truncated and too large ones fail.
// The programs that users run compress the content.
func TestDecoded(t *testing.T) {
	text := bytes.Repeat([]byte("0x0001 : 001 : 00 : yes\n"), 90_000) // more than two parts
	small := Kind{Name: "a small file", Most: int64(len(text))}
	for _, command := range [][]string{
		{"gzip"}, {"xz"}, {"xz", "-9"}, {"zstd"}, {"zstd", "--long=27"}, {"bzip2"}, {"bzip2", "-1"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			packed := compress(t, text, command...)
			two := append(bytes.Clone(packed), compress(t, nil, command...)...)
			for name, content := range map[string][]byte{"whole": packed, "and an empty one": two} {
				if got, err := readAll(t.Context(), put(t, content), small); err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			if _, err := readAll(t.Context(), put(t, packed[:len(packed)-5]), small); err == nil {
				t.Error("truncated: no error")
			}
			_, err := readAll(t.Context(), put(t, compress(t, append(bytes.Clone(text), 'x'), command...)), small)
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("a bomb: %v", err)
			}
			if _, err = readAll(t.Context(), put(t, packed[:12]), small); err == nil {
				t.Error("only the head: no error")
			}
		})
	}
}

// TestNotCompressed checks that texts that begin like compressed data are unchanged.
func TestNotCompressed(t *testing.T) {
	for _, text := range []string{"", "B", "BZhost 1\n", "x", "\xff", "\xfe", "(\xb5/", "\ufeffx"} {
		if got, err := readAll(t.Context(), put(t, []byte(text)), List); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestUTF16 checks both byte orders, also of compressed text.
func TestUTF16(t *testing.T) {
	const text = "leaf-01 \u00fc \U0001d11e\n"
	for _, encoding := range []string{"UTF-16LE", "UTF-16BE"} {
		cmd := exec.Command("iconv", "-f", "UTF-8", "-t", encoding)
		cmd.Stdin = strings.NewReader("\ufeff" + text)
		out, err := cmd.Output()
		if err != nil {
			t.Skip(err)
		}
		for _, content := range [][]byte{out, compress(t, out, "gzip")} {
			if got, err := readAll(t.Context(), put(t, content), List); err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", encoding, got, err)
			}
		}
	}
}

// TestInput reads standard input.
func TestInput(t *testing.T) {
	open := func() *os.File {
		f, err := os.Open(put(t, compress(t, []byte("hello"), "gzip")))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	ctx := WithInput(t.Context(), open())
	if _, err := readAll(ctx, "-", List.Regular()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a check of the kind: %v", err)
	}
	if got, err := readAll(ctx, "-", List); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := readAll(ctx, "-", List); err == nil || !strings.Contains(err.Error(), "already read") {
		t.Errorf("a second time: %v", err)
	}
	for _, ctx := range []context.Context{t.Context(), WithInput(ctx, nil)} {
		if _, err := readAll(ctx, "-", List); err == nil || !strings.Contains(err.Error(), "it has the commands") {
			t.Errorf("without input: %v", err)
		}
	}
}

// A reader that ends early, and one that is cancelled, leave no goroutine.
func TestDecodedEndsEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, compress(t, make([]byte, 4<<20), "gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	if err := Read(t.Context(), path, Topology, func(io.Reader) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Read(ctx, path, Topology, func(r io.Reader) error {
		cancel()
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzDecoded(f *testing.F) {
	for _, head := range []string{"\x1f\x8b\x08", "\xfd7zXZ\x00\x00\x04", "\x28\xb5\x2f\xfd\x04", "BZh91AY&SY",
		"\xff\xfea"} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 1 << 20
		n, err := io.Copy(io.Discard, Limited(Decoded(bytes.NewReader(data)), "file", Kind{Most: most}))
		if n > most {
			t.Fatalf("%d bytes, %v", n, err)
		}
	})
}
