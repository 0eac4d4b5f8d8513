// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Compressed and plain files give the same contents. Truncated and too large ones fail.
func TestUnzipped(t *testing.T) {
	text := bytes.Repeat([]byte("0x0001 : 001 : 00 : yes\n"), 40_000) // more than three parts
	packed := zipped(t, text)
	small := Kind{Name: "a small file", Most: int64(len(text))}
	for name, c := range map[string]struct {
		file []byte
		most Kind
		want error
	}{
		"plain": {text, small, nil}, "packed": {packed, small, nil}, "empty": {nil, small, nil},
		"truncated":  {packed[:len(packed)-5], small, io.ErrUnexpectedEOF},
		"not gzip's": {[]byte("\x1f\x8b\x08garbage"), small, io.ErrUnexpectedEOF},
		"a bomb":     {zipped(t, append(text, 'x')), small, ErrTooLarge},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []byte
		err := Unzipped(t.Context(), path, c.most, func(r io.Reader) (err error) {
			got, err = io.ReadAll(r)
			return err
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
		if c.want == nil && len(c.file) > 0 && !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, expected %d", name, len(got), len(text))
		}
	}
}

// A reader that ends early, and one that is cancelled, leave no goroutine.
func TestUnzippedEndsEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, zipped(t, make([]byte, 4<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	if err := Unzipped(t.Context(), path, Topology, func(io.Reader) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Unzipped(ctx, path, Topology, func(r io.Reader) error {
		cancel()
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
