// All file access that anything relies on. Three write verbs, named for what they promise:
//   write_whole    after it returns the file holds exactly the new bytes, also after a power cut; a reader sees old or new
//   AppendFile     framed appends; survive process death at once, a power cut after sync()
//   write_scratch  no promise
//
// Fails: UserError when a path the person gave cannot be read; EnvironmentError when the disk is full or read-only.
// Temporary files carry the suffix ".tmp-athanor" and are left behind on failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace athanor::base {

inline constexpr std::string_view kTemporarySuffix = ".tmp-athanor";

// The whole file. Fails: UserError naming the path (missing, a folder, unreadable).
std::string read_file(const std::string& path);

void write_whole(const std::string& path, std::string_view bytes);
void write_scratch(const std::string& path, std::string_view bytes);

// mkdir -p. Fails: UserError when a part is a file or may not be written.
void make_folders(const std::string& path);
// fsync of a folder, so that renames in it survive a power cut.
void sync_folder(const std::string& path);
// Renames and syncs the parent folder.
void rename_durably(const std::string& from, const std::string& to);
// Bytes that an unprivileged writer can still put on the file system that holds `path` (or its nearest existing parent).
std::uint64_t free_bytes(const std::string& path);
// Sorted paths that match a glob with * ? [..] in any component; a pattern without them gives itself if it exists.
std::vector<std::string> expand_glob(const std::string& pattern);

// A file that is written front to back. Unflushed bytes are lost if it is dropped without close().
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);  // creates or truncates
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(const void* data, std::size_t num_bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  std::uint64_t num_bytes_written() const { return num_bytes_written_; }
  void sync();   // fsync
  void close();  // flushes; every error surfaces here or before, never in the destructor

 private:
  void flush();

  std::string path_;
  int descriptor_ = -1;
  std::vector<char> buffer_;
  std::uint64_t num_bytes_written_ = 0;
};

// Appends whole records with one write(2) each, so that a killed process leaves a prefix of whole records plus at most one
// torn tail. Externally synchronised.
class AppendFile {
 public:
  explicit AppendFile(const std::string& path);  // creates or appends
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append_framed(std::string_view record);
  void sync();
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

// A file mapped read-only for its whole length. Fails: UserError naming the path.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Tells the kernel the pages are no longer needed (they are read again on the next access).
  void drop_pages() const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// An exclusive advisory lock (flock) held until destruction or process death.
class FileLock {
 public:
  // Creates `path` if needed. Gives an unlocked object when another process holds it.
  static FileLock try_lock(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  bool held() const { return descriptor_ >= 0; }

 private:
  FileLock() = default;
  int descriptor_ = -1;
};

}  // namespace athanor::base
