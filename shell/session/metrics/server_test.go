// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const line = "a line of the metrics\n"

// serve starts a server and returns its URL.
func serve(t *testing.T, source Source) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, "", source)
	t.Cleanup(func() { _ = s.Close() })
	return s, "http://" + l.Addr().String()
}

// long is a [Source] of 10000 lines.
func long(_ context.Context, _ bool, begin func() io.Writer) error {
	_, err := io.WriteString(begin(), strings.Repeat(line, 10000))
	return err
}

// fetch returns the response, its body, and the error of reading the body.
func fetch(t *testing.T, method, url string, header map[string]string) (*http.Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return &http.Response{}, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestServerStatuses(t *testing.T) {
	var result error
	_, url := serve(t, func(ctx context.Context, open bool, begin func() io.Writer) error {
		if result != nil {
			return result
		}
		return long(ctx, open, begin)
	})
	for _, c := range []struct {
		method, path string
		err          error
		status, size int
	}{
		{http.MethodGet, Path, nil, http.StatusOK, 10000 * len(line)},
		{http.MethodGet, Path + "?name=value", nil, http.StatusOK, 10000 * len(line)},
		{http.MethodHead, Path, nil, http.StatusOK, 0},
		{http.MethodGet, "/", nil, http.StatusNotFound, -1},
		{http.MethodGet, Path + "/", nil, http.StatusNotFound, -1},
		{http.MethodPost, Path, nil, http.StatusMethodNotAllowed, -1},
		{http.MethodGet, Path, ErrBusy, http.StatusServiceUnavailable, -1},
		{http.MethodGet, Path, errors.New("secret"), http.StatusInternalServerError, -1},
	} {
		result = c.err
		resp, body, err := fetch(t, c.method, url+c.path, nil)
		if err != nil || resp.StatusCode != c.status || c.size >= 0 && len(body) != c.size ||
			strings.Contains(body, "secret") {
			t.Errorf("%s %s: status %d, %d bytes, %v; want %d, %d bytes", c.method, c.path, resp.StatusCode, len(body),
				err, c.status, c.size)
		}
	}
}

func TestServerForms(t *testing.T) {
	_, url := serve(t, long)
	for accept, want := range map[string]string{
		"": "text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0": "application/openmetrics-text",
	} {
		resp, _, _ := fetch(t, http.MethodGet, url+Path, map[string]string{"Accept": accept})
		if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, want) {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
	resp, body, err := fetch(t, http.MethodGet, url+Path, map[string]string{"Accept-Encoding": "gzip"})
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not compressed: %v, %v", resp.Header, err)
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != strings.Repeat(line, 10000) {
		t.Errorf("%d bytes after decompression, %v", len(text), err)
	}
}

// TestServerAbortsResponse checks that a client detects an aborted response, compressed or not.
func TestServerAbortsResponse(t *testing.T) {
	_, url := serve(t, func(_ context.Context, _ bool, begin func() io.Writer) error {
		_, _ = io.WriteString(begin(), strings.Repeat("x", 100000))
		return errors.New("failed")
	})
	for _, encoding := range []string{"identity", "gzip"} {
		if _, _, err := fetch(t, http.MethodGet, url+Path, map[string]string{"Accept-Encoding": encoding}); err == nil {
			t.Errorf("%s: the client did not detect the aborted response", encoding)
		}
	}
}

// TestServerIdleConnections checks that idle connections block no request.
func TestServerIdleConnections(t *testing.T) {
	_, url := serve(t, long)
	for range 1000 {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	if resp, _, err := fetch(t, http.MethodGet, url+Path, nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", resp.Status, err)
	}
}

// TestServerClose checks that Close ends idle connections and requests in progress.
func TestServerClose(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	s, url := serve(t, func(ctx context.Context, _ bool, _ func() io.Writer) error {
		close(begun)
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	})
	address := strings.TrimPrefix(url, "http://")
	var conns []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		conns = append(conns, c)
	}
	if _, err := io.WriteString(conns[0], "GET "+Path+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	for _, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Error("a connection is still open after Close")
		}
	}
}

// TestAddress checks the forms of an address, and the errors for ports out of range.
func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"9315": "127.0.0.1:9315", ":0": "127.0.0.1:0", "10.0.0.1:65535": "10.0.0.1:65535", "[::1]:80": "[::1]:80",
	} {
		if got, err := Address(text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"99999", "65536", "-1", "10.0.0.1:", "no such port"} {
		if got, err := Address(text); err == nil || !strings.Contains(err.Error(), "0 to 65535") {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
