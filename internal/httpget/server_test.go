// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

const document = "/document"

// serve starts a server of a document of many chunks, and returns its address and what its listener accepted.
func serve(t *testing.T, h Handler) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Start(l, document, h)
	t.Cleanup(func() { _ = s.Close() })
	return s, l.Addr().String()
}

func long(accept string) Answer {
	return Answer{Type: "text/plain; form=" + accept, Write: func(w io.Writer) error {
		for range 10000 {
			if _, err := io.WriteString(w, "a line of a document\n"); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestClient asks by the client of net/http.
func TestClient(t *testing.T) {
	_, at := serve(t, func(_ context.Context, accept string) (Answer, error) {
		switch accept {
		case "busy":
			return Answer{}, ErrBusy
		case "broken":
			return Answer{}, errors.New("secret")
		}
		return long(accept), nil
	})
	for _, c := range []struct {
		method, path, accept string
		status, bytes        int
	}{
		{"GET", document, "x", 200, 210000},
		{"GET", document + "?name=value", "x", 200, 210000},
		{"HEAD", document, "x", 200, 0},
		{"GET", "/", "x", 404, 14},
		{"GET", document + "/", "x", 404, 14},
		{"POST", document, "x", 405, 23},
		{"GET", document, "busy", 503, 24},
		{"GET", document, "broken", 500, 26},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+at+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", c.accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(c, err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || len(body) != c.bytes {
			t.Errorf("%v: %s, %d bytes, %v", c, resp.Status, len(body), err)
		}
		if form := resp.Header.Get("Content-Type"); c.status == 200 && form != "text/plain; form=x" || strings.Contains(string(body), "secret") {
			t.Errorf("%v: as %q: %.60q", c, form, body)
		}
	}
}

// An older client gets a document that ends with the connection, and one that is cut short shows.
func TestOlderClientAndCutShort(t *testing.T) {
	_, at := serve(t, func(_ context.Context, accept string) (Answer, error) {
		a := long(accept)
		if accept == "cut" {
			a.Write = func(w io.Writer) error {
				_, _ = io.WriteString(w, strings.Repeat("x", 100000))
				return errors.New("no more")
			}
		}
		return a, nil
	})
	said := talk(t, at, "GET "+document+" HTTP/1.0\r\n\r\n")
	if _, body, _ := strings.Cut(said, "\r\n\r\n"); len(body) != 210000 || !strings.HasPrefix(body, "a line of") {
		t.Errorf("%d bytes: %.200q", len(body), said)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+document, nil)
	req.Header.Set("Accept", "cut")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a document that was cut short: %v", err)
	}
}

// talk sends a text and returns all that comes back.
func talk(t *testing.T, at, text string) string {
	t.Helper()
	c, err := net.DialTimeout("tcp", at, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(c)
	if err != nil {
		t.Logf("after %d bytes: %v", len(said), err)
	}
	return string(said)
}

func TestRefused(t *testing.T) {
	_, at := serve(t, func(_ context.Context, accept string) (Answer, error) { return long(accept), nil })
	for _, c := range [][2]string{
		{"GET\r\n\r\n", "HTTP/1.1 400 "},
		{"GET " + document + "\r\n\r\n", "HTTP/1.1 400 "},
		{"GET document HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		{"GET " + document + " HTTP/2.0\r\n\r\n", "HTTP/1.1 505 "},
		{"GET " + document + " HTTP/1.1\r\nno colon\r\n\r\n", "HTTP/1.1 400 "},
		{"GET " + document + " HTTP/1.1\r\nAccept: " + strings.Repeat("x", mostHeader) + "\r\n\r\n", ""},
	} {
		if said := talk(t, at, c[0]); !strings.HasPrefix(said, c[1]) || strings.HasPrefix(said, "HTTP/1.1 200") {
			t.Errorf("to %.40q: %.80q", c[0], said)
		}
	}
}

// Close ends connections that say nothing and answers under way.
func TestClose(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	s, at := serve(t, func(ctx context.Context, _ string) (Answer, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return Answer{}, ctx.Err()
	})
	silent, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	asking, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asking.Close() }()
	if _, err := io.WriteString(asking, "GET "+document+" HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	for _, c := range []net.Conn{silent, asking} {
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection stays open")
		}
	}
}

// FuzzRequest lays what is read of a request beside what net/http reads of it.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: text/plain\r\n\r\n"))
	f.Add([]byte("HEAD http://host:1/metrics?x=y HTTP/1.0\n\n"))
	f.Add([]byte("GET  /  HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := readRequest(bytes.NewReader(b))
		if err != nil {
			return
		}
		want, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return // it is stricter, as about Host
		}
		if want.Method != q.method || want.URL.Path != q.path && want.Method != http.MethodConnect || want.ProtoMinor != q.minor || want.Header.Get("Accept") != q.header.Get("Accept") {
			t.Errorf("%+v, want %+v", q, want)
		}
	})
}
