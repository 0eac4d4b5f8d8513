// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/history"
)

// TestTruncated checks that Check finds a history whose end is missing, although its beginning is whole.
func TestTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), history.FileName)
	store, err := history.OpenFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Check(path); err != nil {
		t.Errorf("an open history: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := history.Check(path); err != nil {
		t.Errorf("a whole history: %v", err)
	}
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*history.DamagedError](history.Check(path)); !ok {
		t.Error("a truncated history is not damaged")
	}
}
