#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <utility>

#include "core/base/error.h"

namespace athanor::base {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kWriteBufferBytes = 1 << 20;

[[noreturn]] void fail_read(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      throw UserError("the file does not exist", path, "give the path of an existing file");
    case EISDIR:
      throw UserError("this is a folder, a file is needed", path, "give the path of a file");
    case EACCES:
    case EPERM:
      throw UserError("the file may not be read", path, "give yourself read permission, or name another file");
    default:
      throw EnvironmentError("the file cannot be read", path, "check the disk or the network file system",
                             error_number);
  }
}

[[noreturn]] void fail_write(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      throw UserError("the folder of this file does not exist", path, "make the folder first, or name another");
    case EISDIR:
      throw UserError("this is a folder, a file was to be written here", path, "name another file");
    case EACCES:
    case EPERM:
    case EROFS:
      throw UserError("this place may not be written to", path,
                      "give yourself write permission, or name another folder");
    case ENOSPC:
    case EDQUOT:
      throw EnvironmentError("the disk is full", path, "free some space or name a folder on another disk",
                             error_number);
    default:
      throw EnvironmentError("writing failed", path, "check the disk or the network file system", error_number);
  }
}

int open_or_fail(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_write(path, errno);
  return descriptor;
}

void write_all(int descriptor, const std::string& path, const char* data, std::size_t num_bytes) {
  while (num_bytes > 0) {
    const ssize_t written = ::write(descriptor, data, num_bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_write(path, errno);
    }
    data += written;
    num_bytes -= static_cast<std::size_t>(written);
  }
}

std::string parent_folder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? std::string(".") : parent.string();
}

}  // namespace

std::string read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_read(path, errno);
  std::string content;
  struct stat info {};
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) content.reserve(static_cast<std::size_t>(info.st_size));
  std::vector<char> buffer(kWriteBufferBytes);
  while (true) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error_number = errno;
      ::close(descriptor);
      fail_read(path, error_number);
    }
    if (got == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return content;
}

void write_whole(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + std::string(kTemporarySuffix);
  FileWriter writer(temporary);
  writer.write(bytes);
  writer.sync();
  writer.close();
  rename_durably(temporary, path);
}

void write_scratch(const std::string& path, std::string_view bytes) {
  FileWriter writer(path);
  writer.write(bytes);
  writer.close();
}

void make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && fs::is_directory(path, error)) return;
  if (error.value() == ENOSPC || error.value() == EDQUOT) {
    throw EnvironmentError("the disk is full", path, "free some space or name a folder on another disk", error.value());
  }
  if (error.value() == EACCES || error.value() == EPERM || error.value() == EROFS) {
    throw UserError("this folder may not be made", path, "give yourself write permission, or name another folder");
  }
  throw UserError("a part of this path is a file, a folder is needed", path, "name another folder");
}

void sync_folder(const std::string& path) {
  const int descriptor = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_write(path, errno);
  const int status = ::fsync(descriptor);
  const int error_number = errno;
  ::close(descriptor);
  // Some network file systems cannot sync a folder and say EINVAL; their rename is already durable or not in our hands.
  if (status != 0 && error_number != EINVAL) fail_write(path, error_number);
}

void rename_durably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_write(to, errno);
  sync_folder(parent_folder(to));
}

std::uint64_t free_bytes(const std::string& path) {
  fs::path probe = fs::absolute(path);
  std::error_code error;
  while (!fs::exists(probe, error) && probe.has_parent_path() && probe != probe.parent_path())
    probe = probe.parent_path();
  struct statvfs info {};
  if (::statvfs(probe.c_str(), &info) != 0) {
    throw EnvironmentError("the file system does not say how much is free", probe.string(), "check the disk", errno);
  }
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

FileWriter::FileWriter(const std::string& path)
    : path_(path), descriptor_(open_or_fail(path, O_WRONLY | O_CREAT | O_TRUNC)) {
  buffer_.reserve(kWriteBufferBytes);
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileWriter::write(const void* data, std::size_t num_bytes) {
  ATHANOR_CHECK(descriptor_ >= 0, "write() after close()");
  const char* bytes = static_cast<const char*>(data);
  num_bytes_written_ += num_bytes;
  if (buffer_.size() + num_bytes < kWriteBufferBytes) {
    buffer_.insert(buffer_.end(), bytes, bytes + num_bytes);
    return;
  }
  flush();
  if (num_bytes < kWriteBufferBytes) {
    buffer_.insert(buffer_.end(), bytes, bytes + num_bytes);
  } else {
    write_all(descriptor_, path_, bytes, num_bytes);
  }
}

void FileWriter::flush() {
  write_all(descriptor_, path_, buffer_.data(), buffer_.size());
  buffer_.clear();
}

void FileWriter::sync() {
  flush();
  if (::fsync(descriptor_) != 0) fail_write(path_, errno);
}

void FileWriter::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_write(path_, errno);
}

AppendFile::AppendFile(const std::string& path)
    : path_(path), descriptor_(open_or_fail(path, O_WRONLY | O_CREAT | O_APPEND)) {}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append_framed(std::string_view record) { write_all(descriptor_, path_, record.data(), record.size()); }

void AppendFile::sync() {
  if (::fsync(descriptor_) != 0) fail_write(path_, errno);
}

void AppendFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_write(path_, errno);
}

MappedFile::MappedFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_read(path, errno);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode)) {
    const int error_number = S_ISDIR(info.st_mode) ? EISDIR : errno;
    ::close(descriptor);
    fail_read(path, error_number);
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int error_number = errno;
    ::close(descriptor);
    if (mapped == MAP_FAILED) fail_read(path, error_number);
    data_ = static_cast<const std::byte*>(mapped);
  } else {
    ::close(descriptor);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::drop_pages() const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

FileLock FileLock::try_lock(const std::string& path) {
  FileLock lock;
  lock.descriptor_ = open_or_fail(path, O_RDWR | O_CREAT);
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error_number = errno;
    ::close(std::exchange(lock.descriptor_, -1));
    if (error_number != EWOULDBLOCK) fail_write(path, error_number);
  }
  return lock;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace athanor::base
